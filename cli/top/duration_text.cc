// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/duration_text.h"

#include <algorithm>
#include <format>

namespace bridge {

std::string duration_text(std::chrono::seconds time)
{
    using namespace std::chrono;
    time = std::max(time, seconds(0));
    if (time < minutes(2))
        return std::format("{} s", time.count());
    if (time < hours(2))
        return std::format("{} min", floor<minutes>(time).count());
    if (time < days(2))
        return std::format("{} h", floor<hours>(time).count());
    return std::format("{} d", floor<days>(time).count());
}

} // namespace bridge
