// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as Slurm writes them into names of files and hosts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bridge {

// With zeros before it, to at least so many digits.
inline std::string padded(std::uint32_t number, std::size_t digits)
{
    std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

} // namespace bridge
