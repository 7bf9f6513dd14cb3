// SPDX-License-Identifier: GPL-2.0-or-later
// The partitions of a shadow job (common/slurm/node_use.h). Pure.
//
// A shadow job that fits into what is free on its node goes to the highest
// PriorityTier: no job preempts it there, and it starts at once. One that waits
// goes to the lowest tier: there it preempts no job, and keeps none of a higher
// tier waiting. slurmctld would otherwise start no job of a lower tier on any
// node of its partition before it (schedule() in job_scheduler.c).
#pragma once

#include "common/base/result.h"
#include "common/slurm/node_use.h"
#include "common/slurm/partition.h"

#include <string>
#include <vector>

namespace bridge {

// Returns the names of the partitions of that tier that are up and contain the
// node, separated by commas. Code::rejected if there is none.
Result<std::string> shadow_partitions(const std::string &node, ShadowTier tier,
                                      const std::vector<Partition> &all);

} // namespace bridge
