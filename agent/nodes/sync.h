// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps Slurm's nodes in step with the Kubernetes Nodes that request it by
// label: loads Slurm's nodes, plans with plan.h and carries the steps out. Runs
// on a worker thread. Steps that are equal for many nodes are one RPC.
#pragma once

#include "agent/gres/device_fits.h"
#include "agent/gres/inventory.h"
#include "agent/nodes/plan.h"
#include "common/base/mailbox.h"
#include "common/contract/conf.h"
#include "common/slurm/node_size.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// State that one sync leaves to the next. Belongs to the sync that is running.
// It may be discarded at any time; the next sync then makes a few more calls.
struct NodeSyncState {
    NodeTable table;
    std::vector<Reservation> reservations;
    std::map<std::string, std::string> topologies; // requested, by Slurm node
    // Whether partitions may lack nodes whose features have changed. True at
    // first, because an earlier agent may have ended between the two steps.
    bool rebuild_due = true;
    // Since when a node has waited to be recreated or deleted.
    std::map<std::string, Clock::time_point> waiting;
    bool leaving = false;                       // as in NodePlan
    FeatureWishes wishes;                       // the wishes of the last plan
    std::map<std::string, DeviceIndex> devices; // indexes after the last sync
    DeviceFits fits;
    // How often a node was recreated with these GRES for its devices only.
    std::map<std::string, std::pair<std::string, unsigned>> device_tries;
    std::vector<NodeUse> shadows;
    Clock::time_point shadows_due{}; // when jobs are listed again
    std::set<std::string> busy;      // nodes that jobs have; only with pools
    std::map<std::string, std::string> reported; // as in NodePlanInput
};

struct NodeSyncRequest {
    NodePlanInput input;       // sync_nodes() fills in the rest: see plan.h
    bool changed = true;       // input changed; else compare Slurm and wishes
    bool list_shadows = false; // slurmctld may have lost some
    Clock::time_point now{};
    // Of input.devices; null: these are not known yet.
    std::shared_ptr<const InventorySource> inventory{};
};

struct NodeSyncResult {
    bool unchanged = false; // nothing had to be planned; all else is empty
    NodeMap nodes;
    std::set<std::string> hybrid;
    std::set<std::string> pinned; // Slurm nodes that have their pin now
    std::map<std::string, std::size_t> placed;  // node count by feature
    std::vector<PredicatePtr> asked;            // the predicates of this sync
    std::map<std::string, DeviceIndex> devices; // by Slurm's node name
    std::vector<NodePatch> patches;
    std::map<std::string, std::string> refused; // the reason, by Node
    std::vector<JobRef> shadows; // the shadow jobs; they have no Pods
    std::vector<std::string> warnings;
    bool retry = false; // a step failed that may succeed later
    // As in NodePlan; a recreated node has them after the next sync.
    std::map<std::string, GresCounts> amounts{};
    std::set<std::string> cpu_nodes{};                // as in NodePlan
    std::map<std::string, GresCounts> index_counts{}; // as in NodePlan
    bool retry_soon = false; // nodes that may have jobs are missing above
    // Of the nodes that satisfy each predicate of this sync, by its feature.
    NodeSizes sizes{};
    std::set<std::string> selected{}; // as in NodePlan
    // What was counted; null: devices were not known.
    std::shared_ptr<const DeviceInventory> inventory{};
};

// Blocks for some milliseconds per step. A step that fails adds a message to
// `warnings` and sets `retry`. Fails as the Slurm calls that load nodes,
// reservations and jobs do, or with Code::rejected if NodeAddress is malformed.
Result<NodeSyncResult> sync_nodes(NodeSyncRequest request, Slurm &slurm,
                                  const Conf &conf, NodeSyncState &state);

} // namespace bridge
