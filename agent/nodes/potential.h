// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that an autoscaler makes when they are needed (NodePool= of k8s.conf),
// as Slurm's nodes. While a Node of a pool does not exist, an external node
// stands for it that is DOWN: sinfo shows it, jobs that fit only there wait
// with the reason ReqNodeNotAvail, and jobs that fit nowhere are refused. No
// job ever starts there: the Node that comes gets a Slurm node of its own, and
// one of these goes. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/contract/node_pool.h"
#include "common/slurm/api.h"

#include <string>
#include <vector>

namespace bridge {

// The reason of these nodes in Slurm, by which they are recognized.
inline constexpr char potential_reason[] =
    "slurmk8sd: no Node yet; an autoscaler makes it when a job needs it";

struct PotentialNode {
    std::string slurm_name;
    Node node; // as it will be: labels, taints, allocatable
    std::string gres;
};

// Returns as many of each pool as may still come. nodes: those that exist. A
// Node is of a pool if it has all labels of the pool, and of the first such
// pool if there are several.
std::vector<PotentialNode> potential_nodes(const std::vector<NodePool> &pools,
                                           const std::vector<NodePtr> &nodes);

// Whether an autoscaler makes and removes this Node.
bool is_of_pool(const std::vector<NodePool> &pools, const Node &node);

// Whether this Slurm node stands for a Node that does not exist.
bool is_potential(const SlurmNode &known);

// Returns the GresConf= of a node with this Gres=.
std::string potential_gres_conf(const std::string &gres);

} // namespace bridge
