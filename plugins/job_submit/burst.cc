// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/burst.h"

#include "common/base/variable_name.h"
#include "common/contract/batch_names.h"
#include "plugins/job_submit/job_desc.h"

#include <algorithm>
#include <string_view>

namespace bridge {

bool says_no_burst(std::span<char *const> spank_job_env)
{
    return std::ranges::any_of(spank_job_env, [](const char *entry) {
        return entry && variable_name(entry) == names::no_burst_variable;
    });
}

std::string not_plain_reason(const job_desc_msg_t &desc)
{
    if (desc.bitflags & EXTERNAL_JOB)
        return "it is an external job";
    if (!given(desc.script))
        return "it has no batch script";
    if (is_heterogeneous(desc))
        return "it is part of a heterogeneous job";
    if (desc.bitflags & CRON_JOB)
        return "scrontab has submitted it";
    if (given(desc.partition) && std::string_view(desc.partition).contains(','))
        return "it names its partitions itself";
    if (given(desc.req_nodes))
        return "it names its nodes";
    if (given(desc.reservation))
        return "it is for a reservation";
    if (given(desc.burst_buffer) || given(desc.batch_features) ||
        given(desc.container) || given(desc.container_id) ||
        given(desc.clusters) || given(desc.cluster_features) ||
        given(desc.job_size_str))
        return "it asks for something that only its own partition is known to "
               "have";
    return {};
}

BurstDecision decide_burst(const job_desc_msg_t &desc,
                           std::span<const BurstRule> rules,
                           const NodeView &view, const BurstFacts &facts)
{
    BurstDecision decision;
    decision.own =
        given(desc.partition) ? desc.partition : view.default_partition;
    auto own = view.partitions.find(decision.own);
    for (const BurstRule &rule : rules) {
        auto added = view.partitions.find(rule.to);
        for (const std::string &name : {rule.from, rule.to})
            if (!view.partitions.contains(name) &&
                !std::ranges::contains(decision.unknown, name))
                decision.unknown.push_back(name);
        if (rule.from != decision.own || own == view.partitions.end() ||
            added == view.partitions.end())
            continue;
        std::string reason =
            unfit_reason(desc, own->second, rule.to, added->second, facts);
        if (reason.empty())
            decision.taken.push_back(rule);
        else
            decision.left.push_back("partition " + rule.to + ": " + reason);
    }
    return decision;
}

std::set<std::string> groups_of(std::span<const BurstRule> rules,
                                const NodeView &view)
{
    std::set<std::string> groups;
    for (const BurstRule &rule : rules)
        if (auto to = view.partitions.find(rule.to);
            to != view.partitions.end())
            groups.insert_range(to->second.limits.allow_groups);
    return groups;
}

std::string partitions_of(const BurstDecision &decision)
{
    std::string list = decision.own;
    for (const BurstRule &rule : decision.taken)
        list += "," + rule.to;
    return list;
}

std::string burst_message(const BurstDecision &decision)
{
    std::string names, lines;
    for (const BurstRule &rule : decision.taken) {
        names += (names.empty() ? "" : " or ") + rule.to;
        lines += (lines.empty() ? "Burst=" : ", Burst=") + rule.text();
    }
    return "slurmk8s: the job may also start in partition " + names +
           " (workers in Kubernetes), by " + lines +
           " of k8s.conf; --k8s-no-burst prevents that";
}

} // namespace bridge
