// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm's state of a node means for its Kubernetes Node: our taint, the
// cordon of a node that is drained or down in Slurm, and maintenance ahead.
// Each carries a mark of ours in an annotation, written in the same patch, and
// only what carries it is ever taken back. Pure.
//
//   Slurm node       Node                      patch
//   ---------------  ------------------------  -------------------------------
//   off, not by us   schedulable               cordon, with the reason as mark
//   off, not by us   cordoned with our mark    mark follows the reason
//   off, not by us   cordoned by others        none: nothing of ours is there
//   off, not by us   uncordoned, has our mark  an administrator's word: kept
//                                              until the reason changes
//   on, or our drain cordoned with our mark    uncordon
//
// The other way, a Node that is cordoned with our mark is no reason to drain in
// Slurm (why_drained()), and a drain of ours none to cordon: so neither side
// answers its own echo.
#pragma once

#include "agent/objects/node_patch.h"
#include "agent/objects/objects.h"
#include "common/slurm/api.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

struct MarkPolicy {
    bool taint = true;  // TaintNodes=
    bool cordon = true; // CordonNodes=
};

// For a Node that Slurm serves, with the Slurm node behind it; maintenance is
// what maintenance_words() says of it. Empty when nothing has to change.
NodePatch plan_marks(const Node &node, const SlurmNode &behind,
                     const std::string &maintenance, const MarkPolicy &policy);

// For one that it does not serve: takes back what is ours.
NodePatch plan_unmark(const Node &node);

// It is unschedulable because Slurm's node is off, and we said so.
bool cordoned_by_us(const Node &node);

// The maintenance reservation of each Slurm node, of several the one that
// begins first: "NAME from TIME to TIME".
std::map<std::string, std::string>
maintenance_words(const std::vector<Reservation> &reservations);

} // namespace bridge
