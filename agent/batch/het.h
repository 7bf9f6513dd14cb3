// SPDX-License-Identifier: GPL-2.0-or-later
// The components of a heterogeneous batch job, each as a job of its own: what
// its Pods are made of, and what the script knows of all.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/base/result.h"
#include "common/slurm/api.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// Of a job that has its nodes, the leader first; of one that is not
// heterogeneous itself alone. Blocking, errors as of load_batch(); Code::busy
// while slurmctld places them anew.
Result<std::vector<BatchJob>> load_components(const BatchJob &batch,
                                              Slurm &slurm);

// As on_node(), for a rank among the nodes of all components. Pure.
BatchJob on_node_of(const std::vector<BatchJob> &components,
                    std::uint32_t rank);

// SLURM_HET_SIZE, and SLURM_…_HET_GROUP_n of each component, as slurmctld sets
// them (job_scheduler.c), also by their old names. Nothing where there is one.
// Pure.
std::vector<std::string> het_variables(const std::vector<BatchJob> &components);

} // namespace bridge
