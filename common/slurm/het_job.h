// SPDX-License-Identifier: GPL-2.0-or-later
// A heterogeneous job as one value. Slurm has a job for each component, with
// its own id, SLUID, nodes and hooks; that of the leader stands for all of them
// where one is loaded, completed or cancelled. So it does here: a Job with
// components says of all together what any other Job says of itself. Pure.
//
//   components                            the job is
//   ------------------------------------  -------------------------------------
//   all PENDING                           PENDING
//   all allocated, one CONFIGURING        CONFIGURING
//   all allocated, one SUSPENDED          SUSPENDED
//   all RUNNING                           RUNNING
//   one has ended                         ended, as that one: CANCELLED only if
//                                         none has ended otherwise, for we cancel
//                                         the rest
//   some PENDING, some allocated          unknown: slurmctld never leaves it so
//   fewer than were asked for, all ended  FAILED: it was refused at the submit,
//                                         or slurmctld has lost some in a crash
//   fewer than were asked for, one lives  unknown
#pragma once

#include "common/slurm/job.h"

#include <string>
#include <vector>

namespace bridge {

// Slurm's record of one job, and where it belongs.
struct JobRecord {
    Job job;
    JobId leader = 0;         // of its heterogeneous job; 0: it is of none
    std::uint32_t offset = 0; // in that, the leader's is 0
};

// Each heterogeneous job as one, without those that are not ours.
std::vector<Job> join_components(std::vector<JobRecord> records);

// What of one slurmctld said when it was asked for that job.
Job join_components(JobRef asked, std::vector<JobRecord> records);

// The job itself, or each of its components.
std::vector<JobRef> refs_of(const Job &job);
bool covers(const Job &job, JobRef ref);

// The component that has that node, or the job itself.
const Job &component_on(const Job &job, const std::string &slurm_node);
// The one of that ref; likewise.
const Job &component_of(const Job &job, JobRef ref);

// All components that were asked for are there.
bool is_whole(const Job &job);

// Those that live on when one has ended; empty: there are none, or none has.
std::vector<JobRef> left_over(const Job &job);

} // namespace bridge
