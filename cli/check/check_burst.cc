// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_slurm.h"

#include <algorithm>
#include <format>
#include <string>

namespace bridge {

namespace {

const PartitionFacts *find(const SlurmFacts &slurm, const std::string &name)
{
    auto found =
        std::ranges::find(slurm.partitions, name, &PartitionFacts::name);
    return found == slurm.partitions.end() ? nullptr : &*found;
}

// Nodes that slurmctld does not show may have a slurmd.
bool all_external(const PartitionFacts &partition, const SlurmFacts &slurm)
{
    return !partition.nodes.empty() &&
           std::ranges::all_of(partition.nodes, [&](const std::string &name) {
               auto node =
                   std::ranges::find(slurm.nodes, name, &SlurmNode::name);
               return node != slurm.nodes.end() && node->external;
           });
}

class BurstCheck {
  public:
    BurstCheck(const SlurmFacts &slurm, const BurstRule &rule, Findings &found)
        : slurm_(slurm), rule_(rule), found_(found)
    {
    }

    void check() const
    {
        const PartitionFacts *from = find(slurm_, rule_.from);
        const PartitionFacts *to = find(slurm_, rule_.to);
        for (const std::string &name : {rule_.from, rule_.to})
            if (!find(slurm_, name))
                add(Severity::error, "partition " + name,
                    "it does not exist, and the rule does nothing",
                    std::format("PartitionName={} Nodes=...", name));
        if (!to)
            return;
        check_nodes(*to);
        if (from && to->priority_tier >= from->priority_tier)
            add(Severity::warning, "partition " + to->name,
                std::format("its PriorityTier {} is not below the {} of "
                            "partition {}: jobs may start in Kubernetes while "
                            "there is room in {}",
                            to->priority_tier, from->priority_tier, from->name,
                            from->name),
                std::format("PartitionName={} ... PriorityTier={}", to->name,
                            from->priority_tier - 1));
    }

  private:
    void check_nodes(const PartitionFacts &to) const
    {
        if (all_external(to, slurm_))
            add(Severity::error, "partition " + to.name,
                "its nodes have no slurmd, and no batch job starts there",
                "Nodes=the NodeSet of workers");
        else if (to.nodes.empty() && slurm_.enforces_all_limits)
            add(Severity::warning, "partition " + to.name,
                "it has no node: with EnforcePartLimits=ALL slurmctld would "
                "refuse its jobs, so none is given it before it has one",
                "EnforcePartLimits=ANY");
    }

    void add(Severity severity, const std::string &about,
             const std::string &says, const std::string &change) const
    {
        found_.push_back({severity, about,
                          "k8s.conf has Burst=" + rule_.text() + ": " + says,
                          change});
    }

    const SlurmFacts &slurm_;
    const BurstRule &rule_;
    Findings &found_;
};

} // namespace

Findings check_bursts(const SlurmFacts &slurm, const Conf &conf)
{
    Findings found;
    if (!conf.bursts.empty() &&
        !std::ranges::contains(slurm.job_submit_plugins, "k8s"))
        found.push_back({Severity::error, "slurm.conf",
                         "k8s.conf has Burst, and job_submit/k8s is not "
                         "loaded: the rules do nothing",
                         "JobSubmitPlugins=k8s"});
    for (const BurstRule &rule : conf.bursts)
        BurstCheck(slurm, rule, found).check();
    return found;
}

} // namespace bridge
