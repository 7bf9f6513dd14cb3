// SPDX-License-Identifier: GPL-2.0-or-later
// Placeholder jobs that adopt running Pods, and partitions of a higher
// PriorityTier. Pure.
//
// While a job of a higher tier waits for resources, slurmctld starts no job of
// a lower tier on any node of that job's partition, whatever its priority
// (schedule() in job_scheduler.c); the only exceptions are jobs that, by
// backfill, do not delay it. An adopting job would therefore wait although its
// Pod runs, and Slurm would count the resources of the Pod as free. Only the
// tier of a partition helps: with preempt/partition_prio it ranks even before a
// reservation (sort_job_queue2()).
//
// The adopting job is therefore also allowed into a partition of that tier, but
// only if this changes nothing except a name in squeue and sacct. That is the
// case if the partition has the same billing, the same QoS limits, the same
// sharing of nodes and the same limits for each CPU and node, and if the job
// cannot preempt others there and is not saved from preemption. slurmctld
// itself checks who may use a partition (AllowAccounts, AllowGroups, AllowQos)
// before it starts the job there.
#pragma once

#include "common/contract/job_ref.h"
#include "common/slurm/node_use.h"
#include "common/slurm/partition.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace bridge {

struct Widening {
    JobRef job;
    std::string partitions;       // the job's own partition is the last
    std::uint32_t time_limit = 0; // of the job: see NodeUse

    bool operator==(const Widening &) const = default;
};

// Returns those of the adopting jobs that a higher tier keeps from their node
// and that may use other partitions. Each of them waits for one node
// (names::pin_prefix). uses: all waiting jobs.
std::vector<Widening> behind_higher_tiers(const std::set<JobRef> &adopting,
                                          const std::vector<NodeUse> &uses,
                                          const std::vector<Partition> &all);

// Returns the message for the Pod after that.
std::string widened_message(const Widening &done);

} // namespace bridge
