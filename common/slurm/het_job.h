// SPDX-License-Identifier: GPL-2.0-or-later
// A heterogeneous job as one value. In Slurm each component is a job with its
// own id, SLUID, nodes and hooks, and the leader's id stands for all of them
// when the job is loaded, completed or cancelled. A Job with components works
// the same way: its other members describe all components together. Pure.
//
//   components                            state of the job
//   ------------------------------------  ----------------------------------
//   all PENDING                           PENDING
//   all allocated, one CONFIGURING        CONFIGURING
//   all allocated, one SUSPENDED          SUSPENDED
//   all RUNNING                           RUNNING
//   one has ended                         ended, as that one; CANCELLED only
//                                         if all ended ones are, because we
//                                         cancel the others
//   some PENDING, some allocated          unknown: slurmctld never leaves it
//                                         so
//   fewer than requested, all ended       FAILED: refused at submission, or
//                                         slurmctld lost some in a crash
//   fewer than requested, one lives       unknown
#pragma once

#include "common/slurm/job.h"

#include <string>
#include <vector>

namespace bridge {

// Slurm's record of one job, and its place in a heterogeneous job.
struct JobRecord {
    Job job;
    JobId leader = 0;         // its heterogeneous job; 0: none
    std::uint32_t offset = 0; // index in that job; the leader has 0
};

// Joins the components of each heterogeneous job. Jobs that are not ours are
// left out.
std::vector<Job> join_components(std::vector<JobRecord> records);

// Joins what slurmctld returned when it was asked for this one job.
Job join_components(JobRef asked, std::vector<JobRecord> records);

// refs_of() returns the job itself, or each of its components. covers() tells
// whether ref is one of the components or the job itself.
std::vector<JobRef> refs_of(const Job &job);
bool covers(const Job &job, JobRef ref);

// Returns the component that has this node, or the job itself.
const Job &component_on(const Job &job, const std::string &slurm_node);
const Job &component_on(Job &&job, const std::string &slurm_node) = delete;
// Returns the component with this ref, or the job itself.
const Job &component_of(const Job &job, JobRef ref);
const Job &component_of(Job &&job, JobRef ref) = delete;

// Tells whether all requested components exist.
bool is_whole(const Job &job);

// Returns the components that continue after one has ended; empty if there are
// none or none has ended.
std::vector<JobRef> left_over(const Job &job);

} // namespace bridge
