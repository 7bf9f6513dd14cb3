// SPDX-License-Identifier: GPL-2.0-or-later
// The Slurm nodes of workers that do not exist yet. A job waits for what
// slurmctld knows, and is refused if it fits nowhere: so each worker that a
// NodeSet may have has a record from the beginning, which is DOWN with a reason
// of ours. slurmd of the Pod that comes takes it over by registering.
//
// A record is made in steps, and jobs must not get it before it is DOWN. So it
// is made with a feature that nobody asks for, set DOWN, and then given its
// features; its extra says that all is done, and with which parameters. What is
// half made, or made with others, is removed and made anew. Pure.
#pragma once

#include "agent/workers/worker_set.h"
#include "common/slurm/api.h"
#include "common/slurm/queue.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// Bounds how long slurmctld is busy with one request.
inline constexpr std::size_t most_potential_nodes = 100;

// How the records of a set are made, and what they are like in the end.
struct PotentialNodes {
    FutureNodes made;     // all but the features; without names
    std::string features; // with commas
    std::string reason;   // of being DOWN
    std::string extra;
};
PotentialNodes potential_nodes(const WorkerSet &set);

// Whether slurmd has never registered there.
bool is_never_started(const SlurmNode &record);

struct PotentialPlan {
    std::vector<std::string> remove;                      // records
    std::map<ObjectKey, std::vector<std::string>> create; // names, by set
};

// taken: the names of the Slurm nodes that have Pods. The sets are those that
// follow the queue. namespaces: those whose NodeSets are all known.
PotentialPlan plan_potential(const std::vector<const WorkerSet *> &sets,
                             const std::set<std::string> &namespaces,
                             const std::vector<SlurmNode> &records,
                             const std::set<std::string> &taken);

} // namespace bridge
