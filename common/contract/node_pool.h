// SPDX-License-Identifier: GPL-2.0-or-later
// The NodePool lines of k8s.conf(5): Nodes that an autoscaler makes when they
// are needed, and which Slurm is to know before.
#pragma once

#include "common/base/result.h"
#include "common/base/units.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct NodePool {
    std::string name;
    std::uint32_t nodes = 0; // the most that the autoscaler makes
    std::uint32_t cpus = 0;  // of each, that Pods may have
    MebiBytes memory;        // likewise
    std::string gres;        // of each, as in slurm.conf: "gpu:a100:4"
    // The labels that its Nodes will have, by which they are recognized.
    std::map<std::string, std::string> labels;
    std::string partitions;          // separated by commas
    std::vector<std::string> taints; // "KEY=VALUE:EFFECT" or "KEY:EFFECT"

    bool operator==(const NodePool &) const = default;
};

// The label by which Karpenter says of which NodePool a Node is: what a line
// without Labels= has, with the name of the pool.
inline constexpr char karpenter_pool_label[] = "karpenter.sh/nodepool";

// Adds "NAME Nodes=N CPUs=N RealMemory=MIB [Gres=LIST] [Labels=KEY=VALUE,…]
// [Partitions=LIST] [Taints=LIST]". Code::rejected, with the reason, if the
// text is invalid or NAME has been added before.
Result<> add_node_pool(std::vector<NodePool> &pools, std::string_view text);

// The name that the pool's node with this number, from 1, has in Slurm.
std::string node_in(const NodePool &pool, std::uint32_t number);

} // namespace bridge
