// SPDX-License-Identifier: GPL-2.0-or-later
// Tells autoscalers which Nodes batch jobs wait for. A batch job has no Pods
// while it waits, and autoscalers make Nodes for Pods. So there are Pods that
// stand for the nodes of such a job: as large as its share of each,
// Unschedulable, and of a scheduler that does not exist, so that nobody ever
// starts them.
#pragma once

#include "agent/batch/demand.h"
#include "agent/calls/kube_api.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// One of them: for which task of a job array, and which node of it, from 0.
struct DemandPod {
    std::uint32_t task = 0;
    std::uint32_t node = 0;
};

// Returns the name and the JSON of the Pod.
std::string demand_pod_name(const NodeDemand &demand, DemandPod which);
std::string demand_pod_body(const NodeDemand &demand, DemandPod which,
                            const Conf &conf);

// Makes the Pods that are missing, and deletes those that nobody wants.
// Blocks. An error leaves some of this undone; the next call goes on.
Result<> carry_demands(const std::vector<NodeDemand> &demands, const Conf &conf,
                       Kube &kube);

} // namespace bridge
