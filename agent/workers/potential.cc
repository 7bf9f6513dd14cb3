// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/potential.h"

#include "agent/workers/decide.h"
#include "common/base/ascii.h"
#include "common/base/stable_hash.h"
#include "common/base/text.h"

#include <algorithm>
#include <format>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

// A feature that no NodeSet of slurm.conf and no job should name.
constexpr char new_feature[] = "slurmk8s-not-started";

std::string with_comma(std::string list, std::string_view more)
{
    return std::move(list) + (list.empty() ? "" : ",") + std::string(more);
}

constexpr std::string_view our_extra = R"({"slurmk8s":)";

std::string extra_of(const PotentialWorkers &workers)
{
    return JsonValue::object(
               {{"slurmk8s",
                 std::format("{:016x}", stable_hash(workers.conf))}})
        .dump();
}

// slurmd had taken a record of ours over, and is not there any more.
bool is_left(const SlurmNode &record)
{
    return record.extra.starts_with(our_extra) && record.not_responding &&
           record.allocated_cpus == 0;
}

// Made with other parameters, or half made; or that of a worker that has gone,
// as slurmctld finds it again after a crash: perhaps as it was before anybody
// said so.
bool is_outdated(const SlurmNode &record, const std::string &extra)
{
    if (is_never_started(record))
        return record.extra != extra;
    return gone_for_good(record).has_value() || is_left(record);
}

using Records = std::map<std::string_view, const SlurmNode *>;

void plan_set(const WorkerSet &set, const Records &records,
              const std::set<std::string> &taken, PotentialPlan &plan)
{
    std::string extra = extra_of(*set.potential);
    std::vector<std::string> missing;
    for (std::uint32_t i = 0; i < set.potential->range.most; i++) {
        std::string name = set.potential->node(i);
        auto there = records.find(name);
        if (there == records.end()) {
            if (missing.size() < most_potential_nodes)
                missing.push_back(std::move(name));
        } else if (!taken.contains(name) &&
                   is_outdated(*there->second, extra)) {
            plan.remove.push_back(std::move(name));
        }
    }
    if (!missing.empty())
        plan.create.emplace(set.key, std::move(missing));
}

} // namespace

PotentialNodes potential_nodes(const WorkerSet &set)
{
    PotentialNodes nodes;
    nodes.made.feature = new_feature;
    for (std::string_view word : all_parts(set.potential->conf, ' ')) {
        std::string_view value = word;
        std::string name = lower_case(next_part(value, '='));
        if (name == "feature" || name == "features")
            nodes.features = with_comma(std::move(nodes.features), value);
        else
            nodes.made.conf +=
                (nodes.made.conf.empty() ? "" : " ") + std::string(word);
    }
    nodes.reason = not_started_reason(set.key);
    nodes.extra = extra_of(*set.potential);
    return nodes;
}

bool is_never_started(const SlurmNode &record)
{
    return record.address == no_address;
}

PotentialPlan plan_potential(const std::vector<const WorkerSet *> &sets,
                             const std::set<std::string> &namespaces,
                             const std::vector<SlurmNode> &records,
                             const std::set<std::string> &taken)
{
    PotentialPlan plan;
    Records by_name;
    for (const SlurmNode &record : records)
        by_name.emplace(record.name, &record);
    std::map<ObjectKey, const PotentialWorkers *> known;
    for (const WorkerSet *set : sets) {
        known.emplace(set->key, &*set->potential);
        plan_set(*set, by_name, taken, plan);
    }
    for (const SlurmNode &record : records) {
        auto of = not_started_set(record);
        if (!of || !is_never_started(record) || taken.contains(record.name) ||
            !namespaces.contains(of->ns))
            continue;
        auto set = known.find(*of);
        auto number = set == known.end() ? std::nullopt
                                         : set->second->number_of(record.name);
        if (!number || *number >= set->second->range.most)
            plan.remove.push_back(record.name);
    }
    return plan;
}

} // namespace bridge
