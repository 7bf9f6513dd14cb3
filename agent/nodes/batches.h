// SPDX-License-Identifier: GPL-2.0-or-later
// Steps of a plan that differ in nothing but the node are one RPC. Pure.
#pragma once

#include "agent/nodes/step.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// One step for several nodes.
struct NodeBatch {
    NodeStep step; // its node is their names, separated by commas
    std::vector<std::string> nodes;
};

// In the order in which they have to be carried out: what is made comes first,
// what is drained or resumed last. At most so many nodes each, since slurmctld
// holds its locks for that long.
std::vector<NodeBatch> batches_of(const std::vector<NodeStep> &steps,
                                  std::size_t most = 500);

// What of it is for others than these nodes; nothing if that is none.
std::optional<NodeBatch> without(const NodeBatch &batch,
                                 const std::set<std::string> &nodes);

// The same step for one of them.
NodeStep step_for(const NodeStep &step, const std::string &node);

} // namespace bridge
