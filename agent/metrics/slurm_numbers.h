// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm at one moment, in numbers: nodes and jobs, of the cluster and of each
// partition. Names follow those of slurmctld's own metrics; bytes are bytes. A
// value; it may be read by several threads.
#pragma once

#include "agent/metrics/sums.h"
#include "agent/metrics/user_names.h"
#include "common/metrics/metric_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bridge {

inline constexpr std::size_t job_kinds = 4; // of JobKind

class SlurmNumbers {
  public:
    SlurmNumbers() { forget_jobs(); }

    void set_nodes(std::vector<CountedNode> nodes);
    // Nodes of a partition that are not known are left out.
    void set_partitions(const std::vector<CountedPartition> &partitions);

    void forget_jobs();
    // A pending job counts in each partition in which it may start. its:
    // use_of() that job.
    void add(const CountedJob &job, const JobUse &its);

    // What has few series: of the cluster, and of each partition.
    void write(MetricText &text) const;
    // What has several series for each node.
    void write_nodes(MetricText &text) const;
    // Which nodes are drained or down, since when, why, and who says so. users:
    // the names of these; of one that is not there the number is written.
    // nullptr: users and their reasons are private, and left out.
    void write_reasons(MetricText &text, const UserNames *users) const;

  private:
    std::vector<KnownNode> nodes_;
    NodeSums all_nodes_;
    std::map<std::string, NodeSums, std::less<>> partition_nodes_;
    JobSums all_jobs_;
    std::map<std::string, JobSums, std::less<>> partition_jobs_;
    // Jobs by kind, in the order of job_state_tests().
    std::array<std::vector<std::uint64_t>, job_kinds> kinds_;
};

} // namespace bridge
