// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps Slurm's nodes in step with the Kubernetes Nodes that ask for it by
// label: loads what Slurm has, and carries out on a worker what plan.h
// says. What equals for many nodes is one RPC for all of them.
#pragma once

#include "agent/nodes/plan.h"
#include "common/base/mailbox.h"
#include "common/contract/conf.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// What one sync leaves to the next. Belongs to the one that is under way; may
// be thrown away at any time, which costs a few calls.
struct NodeSyncState {
    NodeTable table;
    std::vector<Reservation> reservations;
    std::map<std::string, std::string> topologies; // asked for, by Slurm node
    // Partitions may lack nodes of a changed feature: an earlier life of the
    // agent may have ended between the two, so the first sync sees to it.
    bool rebuild_due = true;
    // Since when a node waits to be made anew, or to be deleted.
    std::map<std::string, Clock::time_point> waiting;
    bool leaving = false;                       // as in NodePlan
    FeatureWishes wishes;                       // of the last plan
    std::map<std::string, DeviceIndex> devices; // which the last sync left
    // How often a node was made anew for its devices alone, with these GRES.
    std::map<std::string, std::pair<std::string, unsigned>> device_tries;
    std::vector<NodeUse> shadows;
    Clock::time_point shadows_due{}; // when all jobs are asked again
};

struct NodeSyncRequest {
    NodePlanInput input;       // address and port are filled in here
    bool changed = true;       // of it; else Slurm and its wishes are looked at
    bool list_shadows = false; // slurmctld may have lost some
    Clock::time_point now{};
};

struct NodeSyncResult {
    bool unchanged = false; // nothing was to be planned; the rest is empty
    NodeMap nodes;
    std::set<std::string> hybrid;
    std::set<std::string> pinned; // the Slurm nodes that have it now
    std::map<std::string, std::size_t> placed;  // nodes that have each feature
    std::vector<PredicatePtr> asked;            // those of the wishes
    std::map<std::string, DeviceIndex> devices; // by Slurm's name
    std::vector<NodePatch> patches;
    std::map<std::string, std::string> refused; // why, by Node
    std::vector<JobRef> shadows; // which wait for nothing: no Pod is theirs
    std::vector<std::string> complaints;
    bool retry = false; // a step failed that may work later
    // As in NodePlan; what was made anew has them after the next sync.
    std::map<std::string, GresCounts> amounts{};
    std::set<std::string> cpu_nodes{}; // as in NodePlan
    bool retry_soon = false; // nothing is said of nodes that may have jobs
};

// Blocks for some milliseconds a step. A step that fails is a complaint.
Result<NodeSyncResult> sync_nodes(NodeSyncRequest request, Slurm &slurm,
                                  const Conf &conf, NodeSyncState &state);

} // namespace bridge
