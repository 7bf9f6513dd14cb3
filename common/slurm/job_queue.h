// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's queue as far as it asks for more nodes: the ordinary jobs that would
// start if there were some. Values, and what is computed of them. Pure.
#pragma once

#include "common/base/units.h"
#include "common/contract/job_ref.h"
#include "common/slurm/gres_counts.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// An ordinary job that only a lack of nodes, or jobs before it, keep from
// starting; or that many waiting tasks of an array.
struct WaitingJob {
    JobId id = 0;
    std::uint32_t priority = 0;
    bool array = false;      // the record for the waiting tasks of an array,
    std::uint32_t count = 1; // of which so many may start
    std::vector<std::string> partitions;
    std::uint32_t nodes = 1;         // the fewest
    std::uint32_t max_nodes = 0;     // 0: no limit
    std::uint32_t cpus = 1;          // of the whole job, at least
    std::uint32_t cpus_per_node = 1; // at least
    std::uint32_t tasks = 1;
    std::uint32_t tasks_per_node = 0; // at most; 0: no limit
    MebiBytes memory_per_node;
    MebiBytes memory_per_cpu;
    GresCounts gres_per_node;
    GresCounts gres_per_task;
    GresCounts gres_per_job;
    std::string features;              // in Slurm's form
    bool whole_nodes = false;          // shares them with no other job
    std::vector<std::string> required; // nodes
    std::vector<std::string> excluded;

    bool operator==(const WaitingJob &) const = default;
};

// All at one moment, by slurmctld's clock.
struct JobQueue {
    std::int64_t as_of = 0; // seconds since the epoch; 0: never
    std::vector<WaitingJob> waiting;
    std::set<std::string> busy; // nodes that jobs have
};

// How many tasks a list such as "1-5,7,10-20:2%4" has that may start now, while
// others of the array run. A list that was cut short counts as far as it goes;
// 1 if it is none.
std::uint32_t count_tasks(std::string_view list, std::uint32_t running = 0);

// Counts of a node's Gres, such as "gpu:a100:2(S:0-1),nic:1", as asked_gres()
// has them.
GresCounts node_gres(std::string_view text);

// Whether a node with these features, separated by commas, may be one of a
// job's with this constraint. Counts and brackets say how many nodes have a
// feature: one of the features suffices then.
bool may_have_features(std::string_view constraint, std::string_view features);

} // namespace bridge
