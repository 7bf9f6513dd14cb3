// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out node steps in Slurm. Runs on a worker thread. Steps that differ
// only in the node go out as one RPC; if that fails, each node is tried alone.
#pragma once

#include "agent/nodes/step.h"

#include <set>
#include <string>
#include <vector>

namespace bridge {

struct CarryOutcome {
    std::set<std::string> failed; // names of Slurm nodes
    // One error message for each failed node.
    std::vector<std::string> warnings;
    // slurmctld created nodes without evaluating their features for partitions.
    bool rebuild_due = false;
};

// Blocks for some milliseconds per RPC. A node that is not in `failed` is in
// Slurm as the step describes.
CarryOutcome carry_steps(const std::vector<NodeStep> &steps, Slurm &slurm);

} // namespace bridge
