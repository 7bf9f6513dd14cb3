// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/metrics.h"

#include <utility>

namespace bridge::slinky {

namespace {

using Set = Metrics::Set;

void add_counts(const std::vector<Set> &sets,
                std::vector<Set::Count> Set::*which, MetricText &text)
{
    for (const Set &set : sets)
        for (const auto &[state, count] : set.*which)
            text.add(count, {{"namespace", set.ns},
                             {"nodeset", set.name},
                             {"state", state}});
}

} // namespace

void Metrics::set_node_sets(std::vector<Set> sets)
{
    std::lock_guard lock(mutex_);
    node_sets_ = std::move(sets);
}

void Metrics::count_step(const std::string &verb, const std::string &result)
{
    std::lock_guard lock(mutex_);
    steps_[{verb, result}]++;
}

void Metrics::set_objects(const std::string &kind, std::uint64_t count)
{
    std::lock_guard lock(mutex_);
    objects_[kind] = count;
}

void Metrics::set(const State &state)
{
    std::lock_guard lock(mutex_);
    state_ = state;
}

MetricText Metrics::text(MetricFormat format) const
{
    std::lock_guard lock(mutex_);
    MetricText text(format);
    text.counter("slurmk8s_operator_steps",
                 "Requests to change something, by verb and result.");
    for (const auto &[key, count] : steps_)
        text.add(count, {{"verb", key.first}, {"result", key.second}});
    text.gauge("slurmk8s_operator_objects", "Objects that are followed.");
    for (const auto &[kind, count] : objects_)
        text.add(count, {{"kind", kind}});
    text.gauge("slurmk8s_operator_leader",
               "Whether this operator acts (1), or stands by (0).",
               std::uint64_t{state_.leads});
    text.gauge("slurmk8s_operator_failing_watches",
               "Kinds of objects that cannot be watched.",
               state_.failing_watches);
    text.gauge("slurmk8s_operator_failing_objects",
               "Objects whose last step failed, and which wait for another "
               "try.",
               state_.failing_objects);
    text.gauge("slurmk8s_operator_nodeset_pods",
               "Pods of a NodeSet, by its status.");
    add_counts(node_sets_, &Set::pods, text);
    text.gauge("slurmk8s_operator_nodeset_slurm_nodes",
               "Slurm nodes of these Pods, by its status.");
    add_counts(node_sets_, &Set::slurm_nodes, text);
    return text;
}

} // namespace bridge::slinky
