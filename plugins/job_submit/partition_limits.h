// SPDX-License-Identifier: GPL-2.0-or-later
// Who may use a partition, for which jobs, and which nodes with a slurmd it
// has. Pure: values of Slurm's public API in, values out.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// What a job can get on a node at most. Nodes of one kind are equal.
struct SlurmdSize {
    std::uint32_t cpus = 0;
    std::uint64_t memory = 0; // MiB
    std::string features;     // separated by commas
    std::string gres;         // as Slurm prints it, "gpu:a100:2(S:0)"

    auto operator<=>(const SlurmdSize &) const = default;
};

SlurmdSize size_of(const node_info_t &node);

struct PartitionLimits {
    bool up = false; // takes and starts jobs
    std::uint32_t flags = 0;
    std::uint32_t max_time = INFINITE;   // minutes
    std::uint32_t default_time = NO_VAL; // minutes; NO_VAL: max_time
    std::uint32_t min_nodes = 0;
    std::uint32_t max_nodes = INFINITE;
    std::uint32_t total_nodes = 0;
    std::uint32_t total_cpus = 0;
    std::uint32_t max_cpus_per_node = INFINITE;
    std::uint64_t max_memory = 0; // MiB of a node, or of a CPU | MEM_PER_CPU;
                                  // 0: no limit
    // Names in lower case; an empty list allows and denies nobody in
    // particular.
    std::vector<std::string> allow_accounts{}, deny_accounts{};
    std::vector<std::string> allow_qos{}, deny_qos{};
    // Names as they are; empty: all.
    std::vector<std::string> allow_groups{};
    std::string allow_alloc_nodes{}; // a hostlist; empty: all
    // The QOS of the partition refuses jobs that are over its limits.
    bool qos_refuses = false;
    // The number of nodes with a slurmd of each size.
    std::map<SlurmdSize, std::uint32_t> sizes{};
};

// Returns all but the sizes of nodes. refusing_qos: the names, in lower case,
// of each QOS that refuses jobs instead of letting them wait.
PartitionLimits limits_of(const partition_info_t &info,
                          const std::set<std::string> &refusing_qos);

} // namespace bridge
