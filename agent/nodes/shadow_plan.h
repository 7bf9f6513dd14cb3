// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which shadow jobs a node needs (common/slurm/node_use.h). Pure.
#pragma once

#include "common/slurm/node_use.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

struct ShadowPlan {
    std::map<std::string, NodeRoom> submit; // by node: submit one of this size
    std::vector<NodeUse> cancel;
};

// shortages: by node, what Slurm may allocate there beyond what Kubernetes has.
// All shadow jobs of a node together cover its shortage; those that are not
// needed are cancelled, and those that hold more GRES than are missing are
// replaced.
ShadowPlan plan_shadows(const std::map<std::string, NodeRoom> &shortages,
                        const std::vector<NodeUse> &shadows);

} // namespace bridge
