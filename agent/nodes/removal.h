// SPDX-License-Identifier: GPL-2.0-or-later
// Decides whether a node may be removed from Slurm, to be recreated or for
// good. Pure.
//
// At its next start slurmctld fails a pending job that names a deleted node,
// and it holds a job for good (BadConstraints) if no node could run it even for
// a moment. A node therefore stays while an unfinished job or a reservation
// names it, and while external jobs wait that only this node could run, that
// is, while no other node is as large and has all its features and GRES.
// Ordinary jobs never start on the nodes in question, which have no slurmd.
// That a job excludes a node keeps nothing: the job outlives it, and otherwise
// any user could keep all nodes as they are.
#pragma once

#include "common/slurm/api.h"
#include "common/slurm/node_use.h"

#include <set>
#include <string>
#include <vector>

namespace bridge {

// Whether nothing runs there except shadow jobs with this many CPUs in total.
bool is_idle(const SlurmNode &node, std::uint32_t shadow_cpus = 0);

// The CPUs that running shadow jobs have on the node.
std::uint32_t running_cpus(const std::vector<NodeUse> &shadows,
                           const std::string &node);

// Returns the candidates that may be removed together.
std::vector<std::string>
removable(const std::vector<std::string> &candidates,
          const std::vector<SlurmNode> &known, const std::vector<NodeUse> &uses,
          const std::vector<Reservation> &reservations);

} // namespace bridge
