// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/census_pace.h"

#include <algorithm>

namespace bridge {

std::chrono::seconds census_interval(std::chrono::seconds wanted,
                                     std::chrono::seconds min_job_age)
{
    if (min_job_age == std::chrono::seconds::zero())
        return wanted;
    const auto half = std::max(min_job_age / 2, std::chrono::seconds(1));
    return std::min(wanted, half);
}

} // namespace bridge
