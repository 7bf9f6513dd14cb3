// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/slurm_numbers.h"

#include "agent/metrics/families.h"
#include "common/base/text.h"
#include "common/slurm/state_tests.h"

#include <cstdint>
#include <format>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bridge {

namespace {

constexpr std::array<const char *, job_kinds> kind_names{"native", "pod",
                                                         "batch", "shadow"};

void write_nodes_of(Families<NodeSums> to)
{
    to.gauge("nodes", "Nodes", [](const NodeSums &n) { return n.nodes; });
    auto tests = node_state_tests();
    for (std::size_t i = 0; i < tests.size(); i++)
        to.gauge(std::format("nodes_{}", tests[i].name),
                 std::format("Nodes in the state {}", tests[i].name),
                 [i](const NodeSums &n) { return n.states[i]; });
    to.gauge("cpus", "CPUs", [](const NodeSums &n) { return n.cpus; });
    to.gauge("cpus_effective", "CPUs that jobs may have",
             [](const NodeSums &n) { return n.usable_cpus; });
    to.gauge("cpus_alloc", "CPUs that jobs have",
             [](const NodeSums &n) { return n.allocated_cpus; });
    to.gauge("memory_bytes", "Memory",
             [](const NodeSums &n) { return n.memory; });
    to.gauge("memory_effective_bytes", "Memory that jobs may have",
             [](const NodeSums &n) { return n.usable_memory; });
    to.gauge("memory_alloc_bytes", "Memory that jobs have",
             [](const NodeSums &n) { return n.allocated_memory; });
    to.gres("gres", "GRES by type",
            [](const NodeSums &n) -> auto & { return n.gres; });
    to.gres("gres_alloc", "GRES that jobs have, by type",
            [](const NodeSums &n) -> auto & { return n.allocated_gres; });
}

void write_jobs_of(Families<JobSums> to)
{
    to.totals();
    auto tests = job_state_tests();
    for (std::size_t i = 0; i < tests.size(); i++)
        to.gauge(std::format("jobs_{}", tests[i].name),
                 std::format("Jobs in the state {}", tests[i].name),
                 [i](const JobSums &j) { return j.states[i]; });
    to.gauge("jobs_hold", "Pending jobs that are held",
             [](const JobSums &j) { return j.held; });
    to.reasons("jobs_pending_reason", "Pending jobs by the reason for it");
}

} // namespace

void SlurmNumbers::set_nodes(std::vector<CountedNode> nodes)
{
    nodes_.clear();
    nodes_.reserve(nodes.size());
    all_nodes_ = {};
    for (CountedNode &node : nodes)
        all_nodes_.add(nodes_.emplace_back(std::move(node)));
}

void SlurmNumbers::set_partitions(
    const std::vector<CountedPartition> &partitions)
{
    std::unordered_map<std::string_view, const KnownNode *> by_name;
    for (const KnownNode &known : nodes_)
        by_name.emplace(known.node.name, &known);
    partition_nodes_.clear();
    for (const CountedPartition &partition : partitions) {
        NodeSums &sums = partition_nodes_[partition.name];
        partition_jobs_[partition.name]; // also without jobs
        for (const std::string &name : partition.nodes)
            if (auto node = by_name.find(name); node != by_name.end())
                sums.add(*node->second);
    }
}

void SlurmNumbers::forget_jobs()
{
    all_jobs_ = {};
    for (auto &states : kinds_)
        states.assign(job_state_tests().size(), 0);
    partition_jobs_.clear();
    for (const auto &[partition, sums] : partition_nodes_)
        partition_jobs_[partition];
}

void SlurmNumbers::add(const CountedJob &job, const JobUse &its)
{
    all_jobs_.add(job, its);
    count_states(kinds_[static_cast<std::size_t>(job.kind)], job_state_tests(),
                 job.state, job.tasks);
    for (std::string_view partition : all_parts(job.partition, ',')) {
        auto known = partition_jobs_.find(partition);
        if (known == partition_jobs_.end())
            known = partition_jobs_.try_emplace(std::string(partition)).first;
        known->second.add(job, its);
    }
}

void SlurmNumbers::write(MetricText &text) const
{
    const std::map<std::string, NodeSums, std::less<>> all_nodes{
        {"", all_nodes_}};
    const std::map<std::string, JobSums, std::less<>> all_jobs{{"", all_jobs_}};
    write_nodes_of({text, "slurm_", ".", "", all_nodes});
    write_jobs_of({text, "slurm_", ".", "", all_jobs});
    write_nodes_of({text, "slurm_partition_", ", by partition.", "partition",
                    partition_nodes_});
    write_jobs_of({text, "slurm_partition_", ", by partition.", "partition",
                   partition_jobs_});
    text.gauge("slurmk8s_jobs",
               "Jobs by kind (native: without Pods; pod: stands for Pods; "
               "batch: runs as Pods; shadow: holds what Pods of other "
               "schedulers use) and state.");
    auto tests = job_state_tests();
    for (std::size_t kind = 0; kind < job_kinds; kind++)
        for (std::size_t i = 0; i < tests.size(); i++)
            if (kinds_[kind][i] != 0)
                text.add(kinds_[kind][i], {{"kind", kind_names[kind]},
                                           {"state", tests[i].name}});
}

void SlurmNumbers::write_nodes(MetricText &text) const
{
    auto gauge = [&](const char *name, const char *help, auto value) {
        text.gauge(name, help);
        for (const auto &[node, has, used] : nodes_)
            text.add(number(value(node)), {{"node", node.name}});
    };
    gauge("slurm_node_cpus", "CPUs of the node.",
          [](const CountedNode &n) { return n.cpus; });
    gauge("slurm_node_cpus_effective", "CPUs that jobs may have.",
          [](const CountedNode &n) { return n.usable_cpus; });
    gauge("slurm_node_cpus_alloc", "CPUs that jobs have.",
          [](const CountedNode &n) { return n.allocated_cpus; });
    gauge("slurm_node_memory_bytes", "Memory of the node.",
          [](const CountedNode &n) { return bytes_of(n.memory); });
    gauge("slurm_node_memory_effective_bytes", "Memory that jobs may have.",
          [](const CountedNode &n) { return bytes_of(n.usable_memory); });
    gauge("slurm_node_memory_alloc_bytes", "Memory that jobs have.",
          [](const CountedNode &n) { return bytes_of(n.allocated_memory); });
    text.gauge("slurm_node_memory_free_bytes",
               "Free memory, as slurmd has reported it.");
    for (const auto &[node, has, used] : nodes_)
        if (node.free_memory)
            text.add(number(bytes_of(*node.free_memory)),
                     {{"node", node.name}});
    auto gres = [&](const char *name, const char *help,
                    GresByType KnownNode::*which) {
        text.gauge(name, help);
        for (const KnownNode &known : nodes_)
            for (const auto &[kind, count] : known.*which)
                text.add(count, {{"node", known.node.name},
                                 {"gres", kind.first},
                                 {"type", kind.second}});
    };
    gres("slurm_node_gres", "GRES of the node, by type.", &KnownNode::gres);
    gres("slurm_node_gres_alloc", "GRES that jobs have, by type.",
         &KnownNode::allocated_gres);
}

void SlurmNumbers::write_reasons(MetricText &text, const UserNames *users) const
{
    text.gauge("slurm_node_reason_info",
               "Why the node is drained or down, and who says so.");
    for (const auto &[node, has, used] : nodes_) {
        if (node.reason.empty())
            continue;
        if (!users) {
            text.add(std::uint64_t{1}, {{"node", node.name}});
            continue;
        }
        const std::string user = name_in(*users, node.reason_user);
        text.add(
            std::uint64_t{1},
            {{"node", node.name}, {"reason", node.reason}, {"user", user}});
    }
    text.gauge("slurm_node_reason_since_timestamp_seconds",
               "Since when the node has that reason.");
    for (const auto &[node, has, used] : nodes_)
        if (!node.reason.empty())
            text.add(static_cast<std::uint64_t>(
                         node.reason_since.time_since_epoch().count()),
                     {{"node", node.name}});
}

} // namespace bridge
