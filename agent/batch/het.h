// SPDX-License-Identifier: GPL-2.0-or-later
// The components of a heterogeneous batch job, each represented as a job of its
// own, and the variables that describe all of them to the script.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/base/result.h"
#include "common/slurm/api.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// Returns the components of a job that has its nodes, the leader first. For a
// job that is not heterogeneous, the result is the job itself. Blocking. Errors
// as for load_batch(); Code::busy while slurmctld is placing the components
// again.
Result<std::vector<BatchJob>> load_components(const BatchJob &batch,
                                              Slurm &slurm);

// Like on_node(), but rank counts the nodes of all components. Pure function.
BatchJob on_node_of(const std::vector<BatchJob> &components,
                    std::uint32_t rank);

// Returns SLURM_HET_SIZE and the SLURM_…_HET_GROUP_n variables of each
// component, as slurmctld sets them (job_scheduler.c), and again under their
// old names (…_PACK_…). The result is empty when there is only one component.
// Pure function.
std::vector<std::string> het_variables(const std::vector<BatchJob> &components);

} // namespace bridge
