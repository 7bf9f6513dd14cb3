// SPDX-License-Identifier: GPL-2.0-or-later
// How often Slurm is counted, and the counts of jobs are saved. slurmctld
// forgets an ended job after MinJobAge: what is done twice in that time misses
// none, also if one time comes late or the agent dies before it has saved.
// Pure.
#pragma once

#include <chrono>

namespace bridge {

struct CensusPace {
    std::chrono::seconds count{};
    std::chrono::seconds save{};
};

// wanted: MetricsInterval. min_job_age: of slurm.conf; 0: no limit. Both times
// are at least a second, unless less is wanted.
CensusPace census_pace(std::chrono::seconds wanted,
                       std::chrono::seconds min_job_age);

} // namespace bridge
