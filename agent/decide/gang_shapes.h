// SPDX-License-Identifier: GPL-2.0-or-later
// Pods of unequal size in one gang. Usually each gets a task of the largest
// size. The job becomes heterogeneous, with a component for each size, if its
// Pods request that (slurmk8s/heterogeneous) or if more than MaxPadding percent
// of the tasks' CPUs or memory would lie idle. Pure.
#pragma once

#include "agent/gang/gang.h"
#include "common/contract/conf.h"
#include "common/slurm/job.h"

#include <string>
#include <vector>

namespace bridge {

inline constexpr std::size_t max_components = 8;

// Returns why the gang cannot have the heterogeneous job that it requests, as a
// message for its owner; empty: it can, or requests none. whole: the job with
// tasks of the largest Pod.
std::string unfit_het_job_reason(const Gang &gang, const JobDescription &whole);

// Returns what is submitted instead of that job: its components, with the one
// of the first Pod in front, or only the job itself. Requires that
// unfit_het_job_reason() is empty.
std::vector<JobDescription> describe_components(const Gang &gang,
                                                const JobDescription &whole,
                                                const Conf &conf);

} // namespace bridge
