// SPDX-License-Identifier: GPL-2.0-or-later
// The Pods of a batch job of several nodes, as a gang: which goes where, and
// what ends all of them. Pure.
#pragma once

#include "agent/decide/decide.h"
#include "agent/gang/gang.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge {

// Of the gang's Pods the one that runs the script; null: it is gone.
PodPtr script_pod_of(const Gang &gang);

// Why its job ends with a Pod. Nothing: all of them are there, and none is
// over, or some have yet to be seen, or have jobs of their own, or are to be
// made anew.
struct BatchEnd {
    End end{};
    bool by_user = false; // somebody has deleted the Pod of the script
    std::string pod{};    // uid; empty: it is gone
};
std::optional<BatchEnd> end_of_batch(const Gang &gang);

// All Pods are there that were made with that of the script, which says how
// many: a crash of slurmctld may have given its job other nodes since, and
// more. Workers that were made for an earlier Pod of the script do not count.
bool is_whole(const Gang &gang);

// Slurm has placed the job anew since its Pods were made, and that of the
// script was never on a node: workers that are have nothing to do.
bool is_made_for_others(const Gang &gang);

// As seat_pods(): each Pod to the node for which it was made.
Result<std::vector<Seat>> seat_batch_pods(const Gang &gang,
                                          const NodeMap &nodes);

} // namespace bridge
