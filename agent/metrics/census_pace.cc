// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/census_pace.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::chrono::seconds longest_unsaved{60};

} // namespace

CensusPace census_pace(std::chrono::seconds wanted,
                       std::chrono::seconds min_job_age)
{
    if (min_job_age == std::chrono::seconds::zero())
        return {wanted, longest_unsaved};
    const auto half = std::max(min_job_age / 2, std::chrono::seconds(1));
    return {std::min(wanted, half), std::min(longest_unsaved, half)};
}

} // namespace bridge
