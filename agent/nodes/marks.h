// SPDX-License-Identifier: GPL-2.0-or-later
// What the state of a Slurm node means for its Kubernetes Node: the agent's
// taint, a cordon while the node is drained or down in Slurm, and upcoming
// maintenance. Each change comes with an annotation of the agent (its mark) in
// the same patch, and the agent reverts only changes that carry its mark. Pure.
//
//   Slurm node        Node                      patch
//   ----------------  ------------------------  ------------------------------
//   off, not by us    schedulable               cordon; the mark holds the
//                                               reason
//   off, not by us    cordoned with our mark    mark follows the reason
//   off, not by us    cordoned by others        none: nothing there is ours
//   off, not by us    uncordoned, has our mark  none: an administrator decided
//                                               so; kept until the reason
//                                               changes
//   on, or drained    cordoned with our mark    uncordon
//   by us
//
// "off" is drained or down, "by us" is drained by the agent, "on" is the rest.
//
// A Node that an autoscaler may remove (busy is known) has the annotations that
// keep it while Slurm has jobs, or a reservation, there: jobs without Pods look
// like an empty Node to autoscalers.
//
// In the other direction, a cordon with our mark does not drain the Slurm node
// (drain_reason()), and our own drain does not cordon the Node. Neither side
// reacts to its own change.
#pragma once

#include "agent/objects/node_patch.h"
#include "agent/objects/objects.h"
#include "common/slurm/api.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct MarkPolicy {
    bool taint = true;  // TaintNodes=
    bool cordon = true; // CordonNodes=
};

// Returns the patch for a Node with this Slurm node behind it; the patch is
// empty if nothing has to change. maintenance: the text of
// maintenance_messages() for the Slurm node. busy: whether jobs have the node;
// nothing: no autoscaler removes it.
NodePatch plan_marks(const Node &node, const SlurmNode &behind,
                     const std::string &maintenance, const MarkPolicy &policy,
                     std::optional<bool> busy = std::nullopt);

// Returns the patch for a Node without a Slurm node: it removes all that
// carries our mark.
NodePatch plan_unmark(const Node &node);

// Whether the agent cordoned the Node because its Slurm node is off.
bool cordoned_by_us(const Node &node);

// Returns for each Slurm node its maintenance reservation, "NAME from TIME to
// TIME". If there are several, the one that begins first.
std::map<std::string, std::string>
maintenance_messages(const std::vector<Reservation> &reservations);

} // namespace bridge
