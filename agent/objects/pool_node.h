// SPDX-License-Identifier: GPL-2.0-or-later
// A Node that an autoscaler would make for a NodePool of k8s.conf. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/contract/node_pool.h"

namespace bridge {

// Returns it ready, with the labels, taints, partitions and allocatable
// resources that the pool says, without a name.
Node node_of_pool(const NodePool &pool);

} // namespace bridge
