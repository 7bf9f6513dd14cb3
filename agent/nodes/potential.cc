// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/potential.h"

#include "agent/nodes/gres.h"
#include "agent/objects/pool_node.h"

#include <algorithm>
#include <cstdint>
#include <format>

namespace bridge {

namespace {

bool is_of(const NodePool &pool, const Node &node)
{
    return std::ranges::all_of(pool.labels, [&](const auto &label) {
        auto has = node.labels.find(label.first);
        return has != node.labels.end() && has->second == label.second;
    });
}

PotentialNode node_of(const NodePool &pool, std::uint32_t number)
{
    Node node = node_of_pool(pool);
    node.name = node_in(pool, number);
    return {node.name, node, pool.gres};
}

} // namespace

std::vector<PotentialNode> potential_nodes(const std::vector<NodePool> &pools,
                                           const std::vector<NodePtr> &nodes)
{
    std::vector<std::uint32_t> present(pools.size());
    for (const NodePtr &node : nodes) {
        auto pool = std::ranges::find_if(
            pools, [&](const NodePool &one) { return is_of(one, *node); });
        if (pool != pools.end() && !node->deleting)
            present[static_cast<std::size_t>(pool - pools.begin())]++;
    }
    std::vector<PotentialNode> potential;
    for (std::size_t i = 0; i < pools.size(); i++)
        for (std::uint32_t number = 1; number + present[i] <= pools[i].nodes;
             number++)
            potential.push_back(node_of(pools[i], number));
    return potential;
}

bool is_of_pool(const std::vector<NodePool> &pools, const Node &node)
{
    return std::ranges::any_of(
        pools, [&](const NodePool &pool) { return is_of(pool, node); });
}

bool is_potential(const SlurmNode &known)
{
    return known.external && known.reason == potential_reason;
}

std::string potential_gres_conf(const std::string &gres)
{
    std::string text;
    for (const GresCount &one : gres_counts(gres))
        text += std::format(
            "{}count={},name={}{}", text.empty() ? "" : "+", one.count,
            one.gres,
            one.type.empty() ? "" : ",type=" + one.type + ",file=/dev/null");
    return text;
}

} // namespace bridge
