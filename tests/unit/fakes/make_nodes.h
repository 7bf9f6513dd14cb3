// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes of both sides, and what is planned for them.
#pragma once

#include "agent/nodes/plan.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace bridge {

// As make_node() has it, in step.
inline SlurmNode make_slurm_node(const std::string &name)
{
    SlurmNode node;
    node.name = name;
    node.external = true;
    node.cpus = 16;
    node.memory = MebiBytes{64000};
    node.features = "k8s";
    node.address = "127.0.0.1";
    node.port = 6817;
    return node;
}

inline SlurmNode make_hybrid_node(const std::string &name)
{
    SlurmNode node = make_slurm_node(name);
    node.external = false;
    node.usable_cpus = node.cpus;
    node.usable_memory = node.memory;
    return node;
}

inline NodePlanInput make_input(const std::vector<Node> &nodes)
{
    NodePlanInput input;
    for (const Node &node : nodes)
        input.nodes.push_back(std::make_shared<const Node>(node));
    input.foreign.emplace();
    input.dirty.emplace();
    input.address = "127.0.0.1";
    input.port = 6817;
    input.marks = {false, false};
    return input;
}

inline NodePlan plan_all(const std::vector<Node> &nodes,
                         const std::vector<SlurmNode> &known,
                         const DirtyNodes &dirty = std::set<std::string>{})
{
    NodePlanInput input = make_input(nodes);
    input.dirty = dirty;
    return plan_nodes(input, known);
}

inline NodePlan plan_of(const Node &node)
{
    return plan_all({node}, {});
}

inline NodePlan plan_of(const Node &node, const SlurmNode &known)
{
    return plan_all({node}, {known});
}

// The only step of that plan, which must be of that kind.
template <class Kind> Kind step_of(const NodePlan &plan)
{
    REQUIRE(plan.steps.size() == 1);
    REQUIRE(std::holds_alternative<Kind>(plan.steps[0]));
    return std::get<Kind>(plan.steps[0]);
}

} // namespace bridge
