// SPDX-License-Identifier: GPL-2.0-or-later
// Combines the steps of a plan that differ only in the node, so that they need
// one RPC. Pure.
#pragma once

#include "agent/nodes/step.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// One step for several nodes.
struct NodeBatch {
    NodeStep step; // its node holds all names, comma separated
    std::vector<std::string> nodes;
};

// Returns the batches in the order in which they must be carried out: nodes are
// created first and drained or resumed last. A batch has at most `most` nodes,
// because slurmctld holds its locks while it handles one.
std::vector<NodeBatch> batches_of(const std::vector<NodeStep> &steps,
                                  std::size_t most = 500);

// Returns the batch without these nodes, or nothing if no node is left.
std::optional<NodeBatch> without(const NodeBatch &batch,
                                 const std::set<std::string> &nodes);

// Returns the same step for one of its nodes.
NodeStep step_for(const NodeStep &step, const std::string &node);

} // namespace bridge
