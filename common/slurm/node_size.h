// SPDX-License-Identifier: GPL-2.0-or-later
// How large nodes are in Slurm, whatever jobs use of them and whether they are
// up: which Pods could never be there. Values only.
#pragma once

#include "common/base/units.h"
#include "common/slurm/gres_counts.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bridge {

struct NodeSize {
    std::string node; // the first node of this size, for messages
    std::uint32_t cpus = 0;
    MebiBytes memory;
    GresCounts gres; // by GRES, and also by type
    bool gres_known = true;

    bool is_as_large_as(const NodeSize &other) const
    {
        return cpus == other.cpus && memory == other.memory &&
               gres == other.gres && gres_known == other.gres_known;
    }
};

// The different sizes of the nodes that have a feature, by feature. The empty
// text stands for all nodes on which Pods may be.
using NodeSizes = std::map<std::string, std::vector<NodeSize>>;

} // namespace bridge
