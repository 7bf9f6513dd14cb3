// SPDX-License-Identifier: GPL-2.0-or-later
// How often Slurm is counted. slurmctld forgets an ended job after MinJobAge:
// what is done twice in that time misses none, also if one time comes late.
// Pure.
#pragma once

#include <chrono>

namespace bridge {

// wanted: MetricsInterval. min_job_age: of slurm.conf; 0: no limit. At least a
// second, unless less is wanted.
std::chrono::seconds census_interval(std::chrono::seconds wanted,
                                     std::chrono::seconds min_job_age);

} // namespace bridge
