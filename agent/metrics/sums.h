// SPDX-License-Identifier: GPL-2.0-or-later
// Sums over nodes and over jobs: of the cluster, or of one partition. All in
// 64 bits; a cluster of 5,000 nodes with 64 CPUs has more CPUs than 16 bits
// count. Values.
#pragma once

#include "common/slurm/census.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

// Counts of GRES by name and type; the type is empty where Slurm has none.
using GresByType = std::map<std::pair<std::string, std::string>, std::uint64_t>;

// Parses a node's Gres, such as "gpu:a100:4(S:0-1),nic:1", and what is used of
// it.
GresByType gres_by_type(std::string_view text);

struct NodeSums {
    std::uint64_t nodes = 0;
    std::vector<std::uint64_t> states; // in the order of node_state_tests()
    std::uint64_t cpus = 0;
    std::uint64_t usable_cpus = 0;
    std::uint64_t allocated_cpus = 0;
    std::uint64_t memory = 0; // bytes, as are the next two
    std::uint64_t usable_memory = 0;
    std::uint64_t allocated_memory = 0;
    GresByType gres;
    GresByType allocated_gres;

    NodeSums();
    void add(const CountedNode &node);
};

struct JobSums {
    std::uint64_t jobs = 0;
    std::uint64_t held = 0;
    std::vector<std::uint64_t> states; // in the order of job_state_tests()
    std::uint64_t cpus = 0;            // that jobs have, as are the next three
    std::uint64_t nodes = 0;           // one that jobs share counts for each
    std::uint64_t memory = 0;          // bytes
    GresByType gres;                   // only what AccountingStorageTRES has
    std::map<std::string, std::uint64_t> pending; // by reason

    JobSums();
    void add(const CountedJob &job);
};

} // namespace bridge
