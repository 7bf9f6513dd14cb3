// SPDX-License-Identifier: GPL-2.0-or-later
// Sums over nodes and over jobs: of the cluster, or of one partition. All in
// 64 bits; a cluster of 5,000 nodes with 64 CPUs has more CPUs than 16 bits
// count. Values.
#pragma once

#include "common/base/units.h"
#include "common/slurm/census.h"
#include "common/slurm/state_tests.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

// Counts of GRES by name and type; the type is empty where Slurm has none.
using GresByType = std::map<std::pair<std::string, std::string>, std::uint64_t>;

// A node with its GRES, which are parsed once.
struct KnownNode {
    CountedNode node;
    GresByType gres;
    GresByType allocated_gres;

    explicit KnownNode(CountedNode counted);
};

struct NodeSums {
    std::uint64_t nodes = 0;
    std::vector<std::uint64_t> states; // in the order of node_state_tests()
    std::uint64_t cpus = 0;
    std::uint64_t usable_cpus = 0;
    std::uint64_t allocated_cpus = 0;
    Bytes memory;
    Bytes usable_memory;
    Bytes allocated_memory;
    GresByType gres;
    GresByType allocated_gres;

    NodeSums();
    void add(const KnownNode &known);
};

// What a job has of memory and GRES, as parsed from CountedJob::tres.
struct JobUse {
    Bytes memory;
    GresByType gres; // only what AccountingStorageTRES has

    JobUse &operator+=(const JobUse &more);
};
JobUse use_of(const CountedJob &job);

// Jobs, and what they have.
struct JobTotals {
    std::uint64_t jobs = 0;
    std::uint64_t cpus = 0;
    std::uint64_t nodes = 0; // one that jobs share counts for each
    JobUse use;

    // its: use_of() that job.
    void add(const CountedJob &job, const JobUse &its);
    JobTotals &operator+=(const JobTotals &more);
};

struct JobSums : JobTotals {
    std::uint64_t held = 0;
    std::vector<std::uint64_t> states; // in the order of job_state_tests()
    std::map<std::string, std::uint64_t> pending; // by reason

    JobSums();
    void add(const CountedJob &job, const JobUse &its);
};

// Adds so many to each count whose test holds; there is one for each test.
void count_states(std::vector<std::uint64_t> &counts,
                  std::span<const StateTest> tests, std::uint32_t state,
                  std::uint64_t how_many);

} // namespace bridge
