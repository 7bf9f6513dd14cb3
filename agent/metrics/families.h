// SPDX-License-Identifier: GPL-2.0-or-later
// Writes sums as families of metrics: those of the cluster, or of each
// partition, user or account.
#pragma once

#include "agent/metrics/sums.h"
#include "common/base/units.h"
#include "common/metrics/metric_text.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

inline std::uint64_t number(std::uint64_t count)
{
    return count;
}

inline std::uint64_t number(Bytes memory)
{
    return static_cast<std::uint64_t>(memory.value);
}

// Each family has a sample for each name.
template <class Sums> class Families {
  public:
    using All = std::map<std::string, Sums, std::less<>>;

    // prefix: "slurm_partition_"; whose: the end of each help text; label: that
    // of the names, or "" for the cluster, whose name does not matter. text and
    // all must outlive this.
    Families(MetricText &text, std::string prefix, std::string whose,
             std::string label, const All &all)
        : text_(text), prefix_(std::move(prefix)), whose_(std::move(whose)),
          label_(std::move(label)), all_(all)
    {
    }

    // value: a function of Sums.
    template <class Value>
    void gauge(const std::string &name, const std::string &help, Value value)
    {
        text_.gauge(prefix_ + name, help + whose_);
        for (const auto &[who, sums] : all_)
            text_.add(number(value(sums)), labels(who, {}));
    }

    template <class Value>
    void gres(const std::string &name, const std::string &help, Value value)
    {
        text_.gauge(prefix_ + name, help + whose_);
        for (const auto &[who, sums] : all_)
            for (const auto &[kind, count] : value(sums))
                text_.add(count, labels(who, {{"gres", kind.first},
                                              {"type", kind.second}}));
    }

    void reasons(const std::string &name, const std::string &help)
    {
        text_.gauge(prefix_ + name, help + whose_);
        for (const auto &[who, sums] : all_)
            for (const auto &[reason, count] : sums.pending)
                text_.add(count, labels(who, {{"reason", reason}}));
    }

    // What JobTotals has.
    void totals()
    {
        gauge("jobs", "Jobs that slurmctld knows",
              [](const JobTotals &j) { return j.jobs; });
        gauge("jobs_cpus_alloc", "CPUs that jobs have",
              [](const JobTotals &j) { return j.cpus; });
        gauge("jobs_nodes_alloc",
              "Nodes that jobs have; one counts for each job on it",
              [](const JobTotals &j) { return j.nodes; });
        gauge("jobs_memory_alloc_bytes", "Memory that jobs have",
              [](const JobTotals &j) { return j.use.memory; });
        gres("jobs_gres_alloc",
             "GRES in AccountingStorageTRES that jobs have, by type",
             [](const JobTotals &j) -> auto & { return j.use.gres; });
    }

  private:
    MetricText::Labels labels(const std::string &who,
                              std::initializer_list<MetricText::Label> more)
    {
        labels_.clear();
        if (!label_.empty())
            labels_.push_back({label_, who});
        labels_.insert(labels_.end(), more);
        return labels_;
    }

    MetricText &text_;
    std::string prefix_;
    std::string whose_;
    std::string label_;
    const All &all_;
    std::vector<MetricText::Label> labels_;
};

} // namespace bridge
