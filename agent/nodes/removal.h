// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a node may be taken away from Slurm, for a moment or for good. Pure.
//
// slurmctld fails a pending job that names a deleted node at its next start,
// and holds one for good (BadConstraints) that no node could run for a moment.
// So a node stays while an unfinished job or a reservation names it, and while
// jobs wait that only this one could run: where no other node is as large and
// has all its features and GRES.
#pragma once

#include "common/slurm/api.h"
#include "common/slurm/node_use.h"

#include <set>
#include <string>
#include <vector>

namespace bridge {

// Nothing runs there but shadows of ours that have so many CPUs.
bool is_idle(const SlurmNode &node, std::uint32_t shadow_cpus = 0);

// Those of the candidates that may go at once.
std::vector<std::string>
removable(const std::vector<std::string> &candidates,
          const std::vector<SlurmNode> &known, const std::vector<NodeUse> &uses,
          const std::vector<Reservation> &reservations);

} // namespace bridge
