// SPDX-License-Identifier: GPL-2.0-or-later
// Counts and times in numbers from elsewhere, which may be any number or none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace bridge {

// Returns a number from 0 to 10^18.
inline double count_of(double value)
{
    constexpr double most = 1e18;
    return value > 0 ? std::min(value, most) : 0;
}

// Returns a time from 1970 to the year 9999.
inline std::chrono::sys_seconds time_of(double value)
{
    constexpr double most = 253402300799;
    return std::chrono::sys_seconds(std::chrono::seconds(
        static_cast<std::int64_t>(std::min(count_of(value), most))));
}

} // namespace bridge
