// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/shadow_plan.h"

#include "agent/nodes/gres.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

namespace bridge {

namespace {

NodeRoom sum_of(const std::vector<NodeUse> &shadows)
{
    NodeRoom sum;
    for (const NodeUse &shadow : shadows)
        sum += shadow.room;
    return sum;
}

// A Slurm job has at least one CPU, and one without memory gets all of it.
NodeRoom as_job(NodeRoom room)
{
    room.cpus = std::max(room.cpus, 1u);
    room.memory = std::max(room.memory, MebiBytes{1});
    return room;
}

// Keeps the largest, because others may take what is cancelled at once.
std::vector<NodeUse> drop_surplus(std::vector<NodeUse> &shadows,
                                  const NodeRoom &shortage)
{
    std::ranges::sort(shadows, {}, [](const NodeUse &shadow) {
        return std::tuple(!shadow.pending, shadow.room.cpus, shadow.room.memory,
                          shadow.job.sluid);
    });
    std::vector<NodeUse> dropped;
    for (std::size_t i = 0; i < shadows.size();) {
        NodeRoom without = NodeRoom::rest(sum_of(shadows), shadows[i].room);
        if (shortage.none() || without.covers(shortage)) {
            dropped.push_back(shadows[i]);
            shadows.erase(shadows.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            i++;
        }
    }
    return dropped;
}

// Devices are scarce, so none may be held in vain. Holding too much CPU or
// memory is accepted.
bool holds_too_many_devices(const NodeRoom &held, const NodeRoom &shortage)
{
    return !NodeRoom::rest({0, MebiBytes{0}, held.gres}, shortage).none();
}

NodeRoom smaller_of(const NodeRoom &a, const NodeRoom &b)
{
    // What b lacks of a is not in both.
    return NodeRoom::rest(a, NodeRoom::rest(a, b));
}

std::map<std::string, std::uint32_t> typed(const std::string &gres)
{
    std::map<std::string, std::uint32_t> counts;
    for (const GresCount &one : gres_counts(gres))
        if (!one.type.empty())
            counts[one.gres + ":" + one.type] = one.count;
    return counts;
}

// What is free is taken by a job that starts at once, so that no job has to end
// for it. The rest is a job of its own, which waits.
void add_jobs(const std::string &node, const NodeRoom &missing,
              const NodeRoom &free, ShadowPlan &plan)
{
    NodeRoom whole = as_job(missing);
    NodeRoom now = smaller_of(whole, free);
    if (now.cpus == 0 || now.memory.value == 0) {
        plan.wait[node] = whole;
        return;
    }
    NodeRoom later = NodeRoom::rest(whole, now);
    plan.submit[node] = std::move(now);
    if (!later.none())
        plan.wait[node] = as_job(std::move(later));
}

} // namespace

NodeRoom free_room(const SlurmNode &node)
{
    return NodeRoom::rest(
        {node.usable_cpus, node.usable_memory, typed(node.gres)},
        {node.allocated_cpus, node.allocated_memory, typed(node.gres_used)});
}

ShadowPlan plan_shadows(const std::map<std::string, NodeRoom> &shortages,
                        const std::vector<NodeUse> &shadows,
                        const std::map<std::string, NodeRoom> &free)
{
    std::map<std::string, std::vector<NodeUse>> by_node;
    for (const auto &[node, shortage] : shortages)
        by_node[node];
    for (const NodeUse &shadow : shadows)
        by_node[shadow.shadow_of].push_back(shadow);

    ShadowPlan plan;
    for (auto &[node, there] : by_node) {
        auto known = shortages.find(node);
        NodeRoom shortage =
            known == shortages.end() ? NodeRoom{} : known->second;
        for (NodeUse &dropped : drop_surplus(there, shortage))
            plan.cancel.push_back(std::move(dropped));
        if (holds_too_many_devices(sum_of(there), shortage))
            std::ranges::move(std::exchange(there, {}),
                              std::back_inserter(plan.cancel));
        NodeRoom missing = NodeRoom::rest(shortage, sum_of(there));
        if (missing.none())
            continue;
        std::erase_if(there, [](const NodeUse &one) { return !one.pending; });
        auto unused = free.find(node);
        add_jobs(node, missing,
                 unused == free.end()
                     ? NodeRoom{}
                     : NodeRoom::rest(unused->second, sum_of(there)),
                 plan);
    }
    return plan;
}

} // namespace bridge
