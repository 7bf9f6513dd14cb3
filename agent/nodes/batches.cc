// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/batches.h"

#include <algorithm>
#include <map>
#include <utility>

namespace bridge {

namespace {

std::string &node_of(NodeStep &step)
{
    return std::visit(
        [](auto &one) -> std::string & {
            if constexpr (requires { one.node.name; })
                return one.node.name; // CreateNode
            else
                return one.node;
        },
        step);
}

// The value that all nodes of a batch have in common.
struct Value {
    std::string operator()(const CreateNode &s) const
    {
        const NodeDescription &n = s.node;
        return n.address + " " + std::to_string(n.port) + " " +
               std::to_string(n.cpus) + " " + std::to_string(n.memory.value) +
               " " + n.features + " " + n.topology +
               (n.gres.empty() ? "" : " " + n.name);
    }
    // Always for one node: the step is skipped if that node was not created.
    std::string operator()(const SetExtra &s) const { return s.node; }
    std::string operator()(const SetFeatures &s) const
    {
        return s.features + " " + s.active;
    }
    std::string operator()(const SetTopology &s) const { return s.topology; }
    std::string operator()(const DownNode &s) const { return s.reason; }
    std::string operator()(const DrainNode &s) const { return s.reason; }
    std::string operator()(const ResumeNode &) const { return {}; }
};

} // namespace

std::vector<NodeBatch> batches_of(const std::vector<NodeStep> &steps,
                                  std::size_t most)
{
    std::map<std::pair<std::size_t, std::string>, NodeBatch> open;
    std::vector<NodeBatch> full;
    for (const NodeStep &step : steps) {
        NodeStep copy = step;
        std::string name = node_of(copy);
        NodeBatch &batch =
            open.try_emplace({step.index(), std::visit(Value{}, step)},
                             NodeBatch{step, {}})
                .first->second;
        if (batch.nodes.size() == most)
            full.push_back(std::exchange(batch, {step, {}}));
        std::string &names = node_of(batch.step);
        names = batch.nodes.empty() ? name : names + "," + name;
        batch.nodes.push_back(std::move(name));
    }
    for (auto &[key, batch] : open)
        full.push_back(std::move(batch));
    std::ranges::stable_sort(
        full, {}, [](const NodeBatch &batch) { return batch.step.index(); });
    return full;
}

std::optional<NodeBatch> without(const NodeBatch &batch,
                                 const std::set<std::string> &nodes)
{
    NodeBatch rest{batch.step, {}};
    std::string &names = node_of(rest.step);
    names.clear();
    for (const std::string &node : batch.nodes) {
        if (nodes.contains(node))
            continue;
        names += (names.empty() ? "" : ",") + node;
        rest.nodes.push_back(node);
    }
    if (rest.nodes.empty())
        return std::nullopt;
    return rest;
}

NodeStep step_for(const NodeStep &step, const std::string &node)
{
    NodeStep one = step;
    node_of(one) = node;
    return one;
}

} // namespace bridge
