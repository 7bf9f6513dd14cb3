// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which shadow jobs a node needs (common/slurm/node_use.h). Pure.
#pragma once

#include "common/slurm/api.h"
#include "common/slurm/node_use.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

struct ShadowPlan {
    // By node: submit one of this size, which fits into what is free there now,
    // and one that waits until the jobs there leave so much.
    std::map<std::string, NodeRoom> submit;
    std::map<std::string, NodeRoom> wait;
    std::vector<NodeUse> cancel;
};

// Returns what no job has of the node. A node that takes no jobs counts, too:
// this much is free when it takes some again.
NodeRoom free_room(const SlurmNode &node);

// shortages: by node, what Slurm may allocate there beyond what Kubernetes has.
// free: by node, what no job has; a node that is missing has nothing. All
// shadow jobs of a node together cover its shortage; those that are not needed
// are cancelled, and those that hold more GRES than are missing are replaced.
ShadowPlan plan_shadows(const std::map<std::string, NodeRoom> &shortages,
                        const std::vector<NodeUse> &shadows,
                        const std::map<std::string, NodeRoom> &free);

} // namespace bridge
