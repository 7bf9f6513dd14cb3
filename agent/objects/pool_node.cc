// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pool_node.h"

#include "common/contract/names.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace bridge {

namespace {

constexpr std::int64_t milli = 1000;

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

} // namespace

Node node_of_pool(const NodePool &pool)
{
    Node node;
    node.labels = {pool.labels.begin(), pool.labels.end()};
    node.labels.emplace(names::external_node_label, "true");
    if (!pool.partitions.empty())
        node.annotations.emplace(names::external_node_partitions,
                                 pool.partitions);
    for (const std::string &taint : pool.taints)
        node.taints.push_back(taint_from(taint));
    node.allocatable.cpu = MilliCpu{std::int64_t{pool.cpus} * milli};
    node.allocatable.memory = bytes_of(pool.memory);
    node.ready = true;
    return node;
}

} // namespace bridge
