// SPDX-License-Identifier: GPL-2.0-or-later
// Tells autoscalers which Nodes batch jobs wait for. A batch job has no Pods
// while it waits, and autoscalers make Nodes for Pods. So there are Pods that
// stand for the nodes of such a job: as large as its share of each,
// Unschedulable, and of a scheduler that does not exist, so that nobody ever
// starts them.
#pragma once

#include "agent/batch/demand.h"
#include "agent/calls/kube_api.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// One of them: for which task of a job array, and which node of it, from 0.
struct DemandPod {
    std::uint32_t task = 0;
    std::uint32_t node = 0;
};

// Returns the JSON of the Pod. Its name ends with a hash of all else, so that
// one that is to be another has another name. demand.pool must be in conf.
std::string demand_pod_body(const NodeDemand &demand, DemandPod which,
                            const Conf &conf);

// No more are made by one call, so that nobody waits long for a deletion.
inline constexpr std::size_t most_made_at_once = 50;

// Deletes the Pods that nobody wants, then makes those that are missing.
// Returns how many are still missing. Blocks. After an error some of this is
// undone; Code::denied also means that a quota or a policy is in the way, and
// that no more Pods were tried.
Result<std::size_t> carry_demands(const std::vector<NodeDemand> &demands,
                                  const Conf &conf, Kube &kube);

} // namespace bridge
