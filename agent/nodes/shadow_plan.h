// SPDX-License-Identifier: GPL-2.0-or-later
// Which shadow placeholders a node needs (common/slurm/node_use.h). Pure.
#pragma once

#include "common/slurm/node_use.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

struct ShadowPlan {
    std::map<std::string, NodeRoom> submit; // one for that node, of that size
    std::vector<NodeUse> cancel;
};

// shortages: what Slurm gives away of a node and Kubernetes does not have. Each
// is covered by all shadows of its node together; what is not needed for that
// is cancelled. Those that hold more GRES than are missing are replaced.
ShadowPlan plan_shadows(const std::map<std::string, NodeRoom> &shortages,
                        const std::vector<NodeUse> &shadows);

} // namespace bridge
