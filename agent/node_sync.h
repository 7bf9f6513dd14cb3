// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps Slurm's nodes in step with the Kubernetes Nodes that ask for it by
// label: carries out on a worker what node_plan.h says.
#pragma once

#include "agent/node_plan.h"
#include "common/conf.h"

namespace bridge {

struct NodeSyncResult {
    NodeMap nodes;
    std::set<std::string> hybrid;
    std::set<std::string> pinned; // the Slurm nodes that have it now
    std::map<std::string, std::size_t> placed; // nodes that have each feature
    std::vector<PredicatePtr> asked; // wishes.predicates
    std::vector<std::string> complaints;
    bool retry = false; // a step failed that may work later
};

// Blocks for some milliseconds a step. A step that fails is a complaint.
Result<NodeSyncResult> sync_nodes(const std::vector<Node> &nodes,
                                  const FeatureWishes &wishes, Slurm &slurm,
                                  const Conf &conf,
                                  const DirtyNodes &dirty = {});

} // namespace bridge
