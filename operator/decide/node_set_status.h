// SPDX-License-Identifier: GPL-2.0-or-later
// The status of a NodeSet. Pure.
//
//   condition   True when
//   ----------  ------------------------------------------------------------
//   Accepted    Pods can be made of it: otherwise none is made
//   Served      the operator serves all that the spec asks for
//   Available   all Pods that are wanted are ready
//   Updated     all Pods have the present template
//   Autoscaled  the agent sets replicas by the queue; absent if nobody asks
//   ScalingIn   Pods were asked to go, and their nodes are not drained yet
//   Failing     a step cannot be made, and is tried again with growing pauses
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/places.h"
#include "operator/decide/scale.h"
#include "operator/decide/status.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge::slinky {

struct NodeSetFacts {
    std::string problem;   // why no Pod can be made: a sentence, or ""
    std::string failure;   // what the API server refuses, or ""
    std::string held;      // why no Pod gets the present template yet, or ""
    std::string revision;  // of the present template; "" without a Controller
    bool sized = true;     // slurmd is told its sizes
    bool external = false; // slurm.conf is not the operator's
    std::size_t wanted = 0;
    std::vector<const Worker *> workers;
    Now now;
    std::vector<std::string> waiting;  // names of those that are to go
    std::vector<std::string> updating; // and of those that are to be replaced
    std::vector<std::string> refused;  // why a Node that fits gets no Pod
    Pins pins;
};

// Nothing if the status says all of this already.
std::optional<Step> node_set_status(const NodeSet &set,
                                    const NodeSetFacts &facts, Now now);

} // namespace bridge::slinky
