// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that adopt a Pod, behind partitions of a higher PriorityTier. Pure:
// values in, values out.
//
// While a job of a higher tier waits for room, slurmctld starts none of a lower
// tier on any node of that job's partition, whatever the priority (schedule()
// in job_scheduler.c), but for those that backfill finds not to delay it. So a
// job that adopts would wait although its Pod runs, and Slurm would count what
// the Pod has as free. Nothing leads past that but the tier of a partition:
// with preempt/partition_prio it comes before a reservation, too
// (sort_job_queue2()).
//
// Such a job is therefore let into a partition of that tier, too, but only
// where this changes no more than a name in squeue and sacct: the partition
// bills alike, has no QoS with limits of its own, shares its nodes alike, has
// the same limits for each CPU and node, and the change neither saves the job
// from being preempted nor lets it preempt others. Who may be in a partition
// (AllowAccounts, AllowGroups, AllowQos) slurmctld checks itself before it
// starts the job there.
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
    std::string partitions;       // its own last
    std::uint32_t time_limit = 0; // that of its own: see NodeUse

    bool operator==(const Widening &) const = default;
};

// Those of these jobs, which wait for one node each (names::pin_prefix), that a
// higher tier keeps from it and that may be let into others. uses: all jobs
// that wait.
std::vector<Widening> behind_higher_tiers(const std::set<JobRef> &adopting,
                                          const std::vector<NodeUse> &uses,
                                          const std::vector<Partition> &all);

// For the Pod, when that is done.
std::string widened_words(const Widening &done);

} // namespace bridge
