// SPDX-License-Identifier: GPL-2.0-or-later
// Which Pod of a grouped gang goes to which node of its job: neighbours in rank
// become neighbours in Slurm's order of nodes, which is that of the fabric.
// Pure.
#pragma once

#include "agent/decide/decide.h"
#include "agent/gang/gang.h"

#include <cstdint>
#include <vector>

namespace bridge {

// The tasks that each node of the job holds, in the order of job.nodes: one on
// every node, then as many as its CPUs and its GRES allow, from the first one
// on. Slurm does not say (an external job has no step), but it never gives a
// node less. Fewer than job.tasks in all when these do not suffice.
std::vector<std::uint32_t> tasks_on_nodes(const Job &job);

// A seat for each Pod that waits, in rank order, on what is free of the job: a
// Pod that lives keeps its seat, one that has ended leaves it. Code::conflict
// with the reason when one does not fit, may not be bound, or its node is none
// of Kubernetes'; once some are bound, only when none of the others gets a
// seat. Of an elastic gang of which none is bound the last Pods may get none.
// Those of a batch job get the seats for which they were made: batch_gang.h.
Result<std::vector<Seat>> seat_pods(const Gang &gang, const NodeMap &nodes);

// The Pods that the job has put on nodes and that are over, in rank order; of
// one that was made again only the last.
std::vector<PodPtr> last_of_job(const Gang &gang);

} // namespace bridge
