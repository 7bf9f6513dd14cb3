// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which Pod of a grouped gang goes to which node of its job: neighbours
// in rank become neighbours in Slurm's order of nodes, which follows the
// network topology. Pure.
#pragma once

#include "agent/decide/decide.h"
#include "agent/gang/gang.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bridge {

// Returns the number of tasks on each node of the job, in the order of
// job.nodes: one on every node, then, from the first node on, as many as its
// CPUs and GRES allow. Slurm does not report this for an external job, which
// has no step, but it never gives a node fewer. The sum is below job.tasks if
// the nodes do not suffice.
std::vector<std::uint32_t> tasks_on_nodes(const Job &job);

// Returns a seat for each waiting Pod, in rank order, from the free tasks of
// the job: a running Pod keeps its seat, an ended one frees it. Code::conflict
// with the reason if a Pod does not fit, may not be bound, or its node has no
// Kubernetes Node; once some Pods are bound, only if no waiting Pod gets a
// seat. While no Pod of an elastic gang is bound, the last ones may get none.
// Pods of a batch job get the seats that they were created for: batch_gang.h.
Result<std::vector<Seat>> seat_pods(const Gang &gang, const NodeMap &nodes);
// The same while the gang's devices are being derived: devices_at is
// GangDevices::at.
using DevicesAt = std::map<std::string, std::string>;
Result<std::vector<Seat>> seat_pods(const Gang &gang, const NodeMap &nodes,
                                    const DevicesAt &devices_at);

// Returns the ended Pods that the job had put on nodes, in rank order; of a Pod
// that was recreated only the last one.
std::vector<PodPtr> last_of_job(const Gang &gang);

} // namespace bridge
