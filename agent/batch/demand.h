// SPDX-License-Identifier: GPL-2.0-or-later
// The Nodes that batch jobs wait for: of each job that more nodes would let
// start, and for which k8s.conf has a NodePool. Pure.
#pragma once

#include "common/contract/conf.h"
#include "common/slurm/job.h"
#include "common/slurm/job_share.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// What one job, or one component of a heterogeneous job, waits for.
struct NodeDemand {
    JobId job = 0;
    JobId leader = 0;        // of the heterogeneous job, or the job itself
    bool array = false;      // the waiting tasks of a job array:
    std::uint32_t tasks = 1; // so many; each as follows
    std::uint32_t nodes = 1;
    NodeShare share;          // of each node
    bool whole_nodes = false; // shares them with nobody
    std::string pool;         // whose Nodes they are to be

    bool operator==(const NodeDemand &) const = default;
};

// No more Pods are made than that. Jobs of the highest priority come first, and
// each has all its Pods or none; of a job array as many tasks as have room.
inline constexpr std::uint32_t most_demand_pods = 500;

// Returns what the batch jobs of this list wait for. A job asks for Nodes of
// the first pool of k8s.conf that could run it: one of its partitions is named
// by the pool (or by no pool, and this one names none), its share fits, and its
// features and the site's template are satisfied. Empty unless k8s.conf has
// SbatchNamespace.
std::vector<NodeDemand> demands_of(const std::vector<Job> &jobs,
                                   const Conf &conf);

} // namespace bridge
