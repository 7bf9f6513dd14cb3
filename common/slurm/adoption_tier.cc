// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/adoption_tier.h"

#include "common/base/text.h"
#include "common/contract/names.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace bridge {

namespace {

using Partitions = std::vector<const Partition *>; // that contain one node
using Lines = std::map<std::string, int>; // partitions requested: waiting jobs

Partitions partitions_with(const std::string &node,
                           const std::vector<Partition> &all)
{
    Partitions there;
    for (const Partition &one : all)
        if (std::ranges::contains(one.nodes, node))
            there.push_back(&one);
    return there;
}

Partitions named(std::string_view list, const Partitions &there)
{
    Partitions found;
    while (!list.empty()) {
        std::string_view name = next_part(list, ',');
        for (const Partition *one : there)
            if (one->name == name)
                found.push_back(one);
    }
    return found;
}

// Returns the highest tier of these partitions; nothing if there are none.
std::optional<std::uint16_t> tier_of(const Partitions &some)
{
    std::optional<std::uint16_t> tier;
    for (const Partition *one : some)
        tier = std::max(tier.value_or(0), one->tier);
    return tier;
}

// Returns the node that an adopting job requests; "" for any other job.
std::string pinned_to(const NodeUse &use)
{
    std::string_view features = use.features;
    while (!features.empty()) {
        std::string_view one = next_part(features, '&');
        if (one.starts_with(names::pin_prefix))
            return std::string(
                one.substr(std::string_view(names::pin_prefix).size()));
    }
    return {};
}

// Returns the highest tier in which another job waits for resources there.
std::optional<std::uint16_t>
waiting_tier(const NodeUse &use, const Lines &lines, const Partitions &there)
{
    std::optional<std::uint16_t> tier;
    for (const auto &[partitions, jobs] : lines)
        if (jobs > (partitions == use.partitions ? 1 : 0))
            tier = std::max(tier, tier_of(named(partitions, there)));
    return tier;
}

// Tells whether a job in other differs from one in own in nothing but the name
// and the tier.
bool is_like(const Partition &other, const Partition &own)
{
    return other.billing == own.billing && other.manner == own.manner &&
           other.qos == own.qos && !other.preemptable && !own.preemptable;
}

// Tells whether a job could preempt jobs of some partition if it ran in other,
// but not if it ran in own.
bool endangers(const Partition &other, const Partition &own,
               const Partitions &there)
{
    return std::ranges::any_of(there, [&](const Partition *one) {
        return one->preemptable && one->tier >= own.tier &&
               one->tier < other.tier;
    });
}

// Returns the partitions for a job; empty if it has to keep its own.
std::string partitions_for(const NodeUse &use, const Lines &lines,
                           const Partitions &there)
{
    Partitions own = named(use.partitions, there);
    auto waiting = waiting_tier(use, lines, there);
    if (own.empty() || waiting <= tier_of(own))
        return {};
    std::string list;
    for (const Partition *other : there) {
        auto suits = [&](const Partition *one) {
            return is_like(*other, *one) && !endangers(*other, *one, there);
        };
        if (other->up && !other->restricted && other->tier >= waiting &&
            std::ranges::all_of(own, suits))
            list += other->name + ",";
    }
    return list.empty() ? list : list + use.partitions;
}

} // namespace

std::vector<Widening> behind_higher_tiers(const std::set<JobRef> &adopting,
                                          const std::vector<NodeUse> &uses,
                                          const std::vector<Partition> &all)
{
    Lines lines;
    for (const NodeUse &use : uses)
        if (use.in_line)
            lines[use.partitions]++;
    std::map<std::string, Partitions> by_node;
    std::vector<Widening> found;
    for (const NodeUse &use : uses) {
        std::string node = pinned_to(use);
        if (!use.in_line || node.empty() || !adopting.contains(use.job))
            continue;
        auto there = by_node.find(node);
        if (there == by_node.end())
            there = by_node.emplace(node, partitions_with(node, all)).first;
        std::string partitions = partitions_for(use, lines, there->second);
        if (!partitions.empty())
            found.push_back({use.job, partitions, use.time_limit});
    }
    return found;
}

std::string widened_message(const Widening &done)
{
    return "Jobs of a higher PriorityTier wait for the node of this Pod: its "
           "job " +
           std::to_string(done.job.id) + " may start in partition " +
           done.partitions + " now.";
}

} // namespace bridge
