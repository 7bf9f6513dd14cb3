// SPDX-License-Identifier: GPL-2.0-or-later
// Collects the sizes of Slurm's nodes during a sync: as Slurm has them, and for
// a node that the sync creates, as it is created. Belongs to the sync.
#pragma once

#include "common/slurm/api.h"
#include "common/slurm/node_size.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

class SizeTable {
  public:
    void put(const SlurmNode &node);
    void put(const NodeDescription &made);

    // features: the features that matter, by node.
    NodeSizes by_feature(
        const std::map<std::string, std::vector<std::string>> &features) const;

  private:
    std::map<std::string, NodeSize> sizes_; // by node
};

} // namespace bridge
