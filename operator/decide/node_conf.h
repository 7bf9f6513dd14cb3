// SPDX-License-Identifier: GPL-2.0-or-later
// The parameters of a dynamic Slurm node, as slurmd takes them by --conf. The
// sizes are those that the Pod requests: slurmd without them reports the whole
// machine. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <string>

namespace bridge::slinky {

struct NodeConf {
    std::string words;   // "CPUs=4 RealMemory=8000 Port=6818 Feature=web"
    std::string problem; // why there is none: a sentence
    bool sized = false;  // it has CPUs and RealMemory
    bool gres = false;   // it has Gres
};

NodeConf node_conf(const NodeSet &set);

// Where slurmd listens, whatever SlurmdPort is in slurm.conf: the operator does
// not know that, and the kubelet asks there whether slurmd lives.
inline constexpr int slurmd_port = 6818;

} // namespace bridge::slinky
