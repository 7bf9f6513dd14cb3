// SPDX-License-Identifier: GPL-2.0-or-later
// A hash that is the same on every machine and in every version: FNV-1a. It is
// no protection: whoever chooses texts can find two with one hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace bridge {

constexpr std::uint64_t stable_hash(std::string_view text)
{
    std::uint64_t hash = 14695981039346656037u;
    for (char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

} // namespace bridge
