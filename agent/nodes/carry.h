// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out steps on Slurm's nodes, on a worker: those that differ in nothing
// but the node as one RPC, and where that fails one by one.
#pragma once

#include "agent/nodes/step.h"

#include <set>
#include <string>
#include <vector>

namespace bridge {

struct CarryOutcome {
    std::set<std::string> failed;        // nodes
    std::vector<std::string> complaints; // one for each of them
    // slurmctld made nodes and forgot to look at their features.
    bool rebuild_due = false;
};

// Blocks for some milliseconds an RPC. Success for a node means that Slurm has
// it as the step says.
CarryOutcome carry_steps(const std::vector<NodeStep> &steps, Slurm &slurm);

} // namespace bridge
