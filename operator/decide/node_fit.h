// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the Pod of a NodeSet may run on a Node, as the scheduler and the
// eviction by taints see it: nodeSelector, required nodeAffinity, taints. What
// the Pod requests does not count: the scheduler looks at that. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <array>

namespace bridge::slinky {

// What the Pods of a DaemonSet tolerate: the trouble of their own Node.
struct Toleration {
    const char *key;
    const char *effect;
};
inline constexpr std::array<Toleration, 6> daemon_tolerations{{
    {"node.kubernetes.io/not-ready", "NoExecute"},
    {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {"node.kubernetes.io/unschedulable", "NoSchedule"},
}};

struct NodeFit {
    bool comes = false; // a Pod may be made for it
    bool stays = false; // one that is there may go on
};

NodeFit fit_of(const NodeSet &set, const KubeNode &node);

} // namespace bridge::slinky
