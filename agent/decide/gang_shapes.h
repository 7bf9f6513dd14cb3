// SPDX-License-Identifier: GPL-2.0-or-later
// Pods of unequal size in one gang. As a rule each gets a task of the largest;
// a component of a heterogeneous job for each size where its Pods ask for that
// (slurmk8s/heterogeneous), or where more than MaxPadding of the tasks would
// lie idle. Pure.
#pragma once

#include "agent/gang/gang.h"
#include "common/contract/conf.h"
#include "common/slurm/job.h"

#include <string>
#include <vector>

namespace bridge {

inline constexpr std::size_t max_components = 8;

// Why the gang cannot have the heterogeneous job that it asks for, in words for
// its owner; empty: it can, or asks for none. whole: the job with tasks of the
// largest Pod.
std::string het_objection(const Gang &gang, const JobDescription &whole);

// What is asked of slurmctld instead of that job: its components, the one with
// the first Pod in front; or that job alone. Only for a gang without objection.
std::vector<JobDescription> describe_components(const Gang &gang,
                                                const JobDescription &whole,
                                                const Conf &conf);

} // namespace bridge
