// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which Kubernetes Node stands behind which Slurm node. Pure.
#pragma once

#include "agent/objects/node_map.h"
#include "agent/objects/objects.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

struct NodeClaims {
    // By Slurm's name; the pointers are valid as long as the Nodes they came
    // from.
    std::map<std::string, const Node *> nodes;
    // Names whose Node could not be parsed: their Slurm nodes are left as they
    // are.
    std::set<std::string> left_alone;
    std::map<std::string, std::string> refused; // the reason, by Node
};

// Considers the Nodes that request a Slurm node. If two Nodes request the same
// name, the one that has it so far (`before`) keeps it, else the older Node
// gets it.
NodeClaims claims_of(const std::vector<NodePtr> &nodes, const NodeMap &before);

} // namespace bridge
