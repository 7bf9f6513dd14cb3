// SPDX-License-Identifier: GPL-2.0-or-later
// How a node is made. slurmctld takes the GRES of one node at a time, and with
// each node that comes looks at every node of each partition whose features it
// has: 5,000 such nodes take it minutes. So one with GRES has no feature of a
// partition until its last step, which is one for many nodes. No job can start
// there before either, so that nobody relies on GRES of which `extra` says
// nothing yet. What a crash leaves is is_new(), and the next sync goes on.
// Pure.
#pragma once

#include "agent/nodes/step.h"

#include <vector>

namespace bridge {

// Appends the steps that make the node, in their order.
void add_creation(std::vector<NodeStep> &steps, const NodeDescription &wish);

// Made, and not yet given what it was to have.
bool is_new(const SlurmNode &known);
bool is_new(const NodeDescription &made);

} // namespace bridge
