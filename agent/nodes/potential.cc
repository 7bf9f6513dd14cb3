// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/potential.h"

#include "agent/nodes/gres.h"
#include "common/contract/names.h"

#include <algorithm>
#include <cstdint>
#include <format>

namespace bridge {

namespace {

constexpr std::int64_t milli = 1000;
constexpr std::uint64_t bytes_in_mib = 1024UL * 1024;

bool is_of(const NodePool &pool, const Node &node)
{
    return std::ranges::all_of(pool.labels, [&](const auto &label) {
        auto has = node.labels.find(label.first);
        return has != node.labels.end() && has->second == label.second;
    });
}

// "KEY=VALUE:EFFECT" or "KEY:EFFECT"
Taint taint_from(std::string_view text)
{
    std::size_t colon = text.rfind(':');
    std::string_view name = text.substr(0, colon);
    std::size_t equals = std::min(name.find('='), name.size());
    std::string_view value = name.substr(std::min(equals + 1, name.size()));
    return {std::string(name.substr(0, equals)), std::string(value),
            std::string(text.substr(colon + 1))};
}

PotentialNode node_of(const NodePool &pool, std::uint32_t number)
{
    Node node;
    node.name = node_in(pool, number);
    node.labels = {pool.labels.begin(), pool.labels.end()};
    node.labels.emplace(names::external_node_label, "true");
    if (!pool.partitions.empty())
        node.annotations.emplace(names::external_node_partitions,
                                 pool.partitions);
    for (const std::string &taint : pool.taints)
        node.taints.push_back(taint_from(taint));
    node.allocatable.cpu = MilliCpu{std::int64_t{pool.cpus} * milli};
    node.allocatable.memory =
        Bytes{static_cast<std::int64_t>(pool.memory.value * bytes_in_mib)};
    node.ready = true;
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
