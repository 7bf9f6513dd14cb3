// SPDX-License-Identifier: GPL-2.0-or-later
// The steps that create a node. slurmctld accepts GRES for one node at a time,
// and for each new node it examines all nodes of each partition whose features
// the node has: 5,000 such nodes take it minutes. A node with GRES is therefore
// created without any feature of a partition, and gets its features in its last
// step, which is one RPC for many nodes. Until then no job can start there, so
// nobody relies on GRES that `extra` does not describe yet. After a crash of
// the agent, is_new() recognises nodes between the two steps, and the next sync
// continues with them. Pure.
#pragma once

#include "agent/nodes/step.h"

#include <vector>

namespace bridge {

// Appends the steps that create the node, in their order. A node that is to be
// DOWN gets its features in its last step, too.
void add_creation(std::vector<NodeStep> &steps, const NodeDescription &wish,
                  const std::string &down_reason = {});

// Whether the node was created but has not got its final features yet.
bool is_new(const SlurmNode &known);
bool is_new(const NodeDescription &made);

} // namespace bridge
