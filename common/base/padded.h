// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers with leading zeros, as Slurm writes them into file and host names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bridge {

// Returns the number with leading zeros, at least this many digits long.
inline std::string padded(std::uint32_t number, std::size_t digits)
{
    std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

} // namespace bridge
