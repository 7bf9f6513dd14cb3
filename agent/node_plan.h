// SPDX-License-Identifier: GPL-2.0-or-later
// What has to be done in Slurm so that its nodes are in step with the Kubernetes
// Nodes that ask for it by label: an external node is made for each, unless
// Slurm has a node of that name with a slurmd. Such a Node is hybrid: both sides
// start work on it, and we own its k8s… features and our drains, nothing else.
// Nodes without the label are never touched. Pure.
#pragma once

#include "agent/decide.h"
#include "agent/objects.h"
#include "agent/slurm_api.h"
#include "common/names.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace bridge {

using names::drain_mark;

struct CreateNode {
    NodeDescription node;
};
struct SetFeatures {
    std::string node;
    std::string features; // comma separated, as the next
    std::string active;   // of these
};
struct DrainNode {
    std::string node;
    std::string reason; // begins with drain_mark
};
struct ResumeNode { // only what carries our mark
    std::string node;
};
using NodeStep = std::variant<CreateNode, SetFeatures, DrainNode, ResumeNode>;

struct NodePlan {
    NodeMap nodes; // by the name of the Slurm node
    std::set<std::string> hybrid; // those of them that have a slurmd
    std::set<std::string> pinned; // once the steps are done
    // By Slurm's name: the features of the predicates that each satisfies.
    std::map<std::string, std::vector<std::string>> placed; // likewise
    std::vector<NodeStep> steps;
    bool look_again = false; // more is known later
    std::vector<std::string> complaints; // for the log, one sentence each
};

// The features that Slurm's nodes shall have besides those of their Nodes.
struct FeatureWishes {
    std::set<std::string> pins; // who has one that no other has: pin_prefix
    std::vector<PredicatePtr> predicates; // evaluated for each Node
    bool keep_others = false; // of both kinds: those that nodes have stay
};

// Slurm's names of the nodes that hold Pods which no living job covers; nothing
// while that is not known.
using DirtyNodes = std::optional<std::set<std::string>>;

// address: where external nodes are said to be, an IP literal and a port.
NodePlan plan_nodes(const std::vector<Node> &nodes,
                    const std::vector<SlurmNode> &known, const FeatureWishes &wishes,
                    const std::string &address, std::uint16_t port,
                    const DirtyNodes &dirty = {});

// Whether a change of this Node can change the plan; heartbeats do not.
bool same_for_slurm(const Node &a, const Node &b);

} // namespace bridge
