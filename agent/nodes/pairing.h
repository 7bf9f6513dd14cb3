// SPDX-License-Identifier: GPL-2.0-or-later
// Which Node of Kubernetes stands behind which of Slurm's. Pure.
#pragma once

#include "agent/objects/node_map.h"
#include "agent/objects/objects.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

struct NodeClaims {
    // By Slurm's name; valid as long as the Nodes they were made of.
    std::map<std::string, const Node *> nodes;
    // Names whose Node cannot be read: what Slurm has of them stays as it is.
    std::set<std::string> left_alone;
    std::map<std::string, std::string> refused; // why, by Node
};

// Of those Nodes that ask for it. Of two that ask for one name the one has it
// that had it until now, by `before`, else the older one.
NodeClaims claims_of(const std::vector<NodePtr> &nodes, const NodeMap &before);

} // namespace bridge
