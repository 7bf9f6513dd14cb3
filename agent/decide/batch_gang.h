// SPDX-License-Identifier: GPL-2.0-or-later
// The Pods of a multi-node batch job as a gang: which Pod goes to which node,
// and what ends all of them. Pure.
#pragma once

#include "agent/decide/decide.h"
#include "agent/gang/gang.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge {

// Returns the Pod that runs the script, or null if it is gone.
PodPtr script_pod_of(const Gang &gang);

// How the job ends because of a Pod. Nothing is returned while the job goes on:
// all Pods exist and none is over, or some have not been seen yet, have jobs of
// their own, or are to be recreated.
struct BatchEnd {
    End end{};
    bool by_user = false; // a user deleted the Pod of the script
    std::string pod{};    // uid of the Pod; empty: it is gone
};
std::optional<BatchEnd> end_of_batch(const Gang &gang);

// Whether all Pods exist that were created together with the Pod of the script,
// which states their number: after a crash slurmctld may have given the job
// other nodes, and another number of them. Workers of an earlier script Pod do
// not count.
bool is_whole(const Gang &gang);

// Whether Slurm has placed the job on other nodes since its Pods were created,
// and the Pod of the script was never on a node. Workers that are on nodes have
// nothing to do then.
bool is_made_for_others(const Gang &gang);

// Like seat_pods(): gives each Pod the node that it was created for.
// Code::conflict with the reason if a Pod does not fit there or the node has no
// Kubernetes Node.
Result<std::vector<Seat>> seat_batch_pods(const Gang &gang,
                                          const NodeMap &nodes);

} // namespace bridge
