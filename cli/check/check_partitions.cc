// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_slurm.h"
#include "common/contract/names.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

bool for_pods(const SlurmNode &node)
{
    std::string list = "," + node.features + ",";
    return list.contains("," + std::string(names::feature) + ",");
}

std::set<std::string> nodes_for_pods(const SlurmFacts &slurm, bool hybrid)
{
    std::set<std::string> found;
    for (const SlurmNode &node : slurm.nodes)
        if (for_pods(node) && (!hybrid || !node.external))
            found.insert(node.name);
    return found;
}

bool any_in(const PartitionFacts &partition, const std::set<std::string> &nodes)
{
    return std::ranges::any_of(partition.nodes, [&](const std::string &node) {
        return nodes.contains(node);
    });
}

class PartitionCheck {
  public:
    PartitionCheck(const PartitionFacts &partition, Findings &found)
        : partition_(partition), found_(found)
    {
    }

    void check_settings(bool memory_default, bool ordinary_jobs) const
    {
        if (!partition_.up)
            add_finding(Severity::warning, "it is not up: no Pod starts there",
                        "UP", "State");
        if (partition_.suspends)
            add_finding(
                Severity::error,
                "it suspends preempted jobs: Slurm gives their resources away "
                "while their Pods run on",
                "CANCEL", "PreemptMode");
        if (partition_.forces_sharing)
            add_finding(
                Severity::warning,
                "it hands the same CPUs to several jobs, which kubelets do not "
                "accept (OutOfcpu)",
                "NO", "OverSubscribe");
        if (partition_.exclusive)
            add_finding(Severity::warning, "each Pod gets a whole node there",
                        "NO", "OverSubscribe");
        if (partition_.grace_time > std::chrono::seconds(0))
            add_finding(
                Severity::warning,
                "at the start of GraceTime Slurm signals the nodes; where "
                "nobody answers at NodeAddress (k8s.conf) the node takes no "
                "more jobs for a while",
                "0", "GraceTime");
        if (ordinary_jobs && !memory_default && !partition_.memory_default)
            add_finding(
                Severity::warning,
                "an ordinary job that asks for no memory gets all of a node's, "
                "and no Pod starts beside it",
                "2000", "DefMemPerCPU");
    }

  private:
    void add_finding(Severity severity, const std::string &says,
                     const std::string &value, const std::string &key) const
    {
        found_.push_back(
            make_finding(severity, "partition " + partition_.name, says,
                         {"PartitionName=" + partition_.name + " … ",
                          {},
                          {{key, value}},
                          ' '}));
    }

    const PartitionFacts &partition_;
    Findings &found_;
};

const PartitionFacts *find(const SlurmFacts &slurm, const std::string &name)
{
    auto found =
        std::ranges::find(slurm.partitions, name, &PartitionFacts::name);
    return found == slurm.partitions.end() ? nullptr : &*found;
}

Finding missing(const std::string &name, bool by_conf)
{
    return {by_conf ? Severity::error : Severity::warning, "partition " + name,
            by_conf ? "k8s.conf names it (Partition=), and it does not exist"
                    : "Nodes name it, and it does not exist",
            std::format("NodeSet={0} Feature={0} and PartitionName={0} "
                        "Nodes={0}",
                        name)};
}

} // namespace

Findings check_partitions(const SlurmFacts &slurm, const Conf &conf,
                          const std::set<std::string> &named_by_nodes)
{
    Findings found;
    auto named = named_by_nodes;
    if (!conf.partition.empty())
        named.insert(conf.partition);
    for (const std::string &name : named)
        if (!find(slurm, name))
            found.push_back(missing(name, name == conf.partition));

    auto ours = nodes_for_pods(slurm, false);
    auto hybrid = nodes_for_pods(slurm, true);
    for (const PartitionFacts &partition : slurm.partitions) {
        bool has_ours = any_in(partition, ours);
        if (has_ours || named.contains(partition.name))
            PartitionCheck(partition, found)
                .check_settings(slurm.memory_default,
                                any_in(partition, hybrid));
        if (!ours.empty() && !has_ours && named.contains(partition.name))
            found.push_back({Severity::warning, "partition " + partition.name,
                             "it is named for Pods, and has no node for them",
                             "NodeSet=k8s Feature=k8s and PartitionName=" +
                                 partition.name + " Nodes=k8s"});
    }
    return found;
}

} // namespace bridge
