// SPDX-License-Identifier: GPL-2.0-or-later
// The comparison of Slurm's nodes with Kubernetes' Nodes: what it is given, and
// what it has found. agent/nodes/sync.h makes it, on a worker; SyncTimes says
// when. What others know comes as values, and what they must hear is returned.
// Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/nodes/sync.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/plugin_line.h"
#include "agent/owner/sync_times.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace bridge {

class NodeSync {
  public:
    // What is known of devices: as in NodePlanInput.
    struct Devices {
        bool counted = false; // k8s.conf counts some
        bool known = false;   // they are listed, and who has them
        std::shared_ptr<const InventorySource> inventory{};
        std::shared_ptr<const DeviceClaims> claims{};
        std::shared_ptr<const DeviceCatalog> catalog{};
    };
    // What others want of the nodes: as in NodePlanInput.
    struct Wants {
        FeatureWishes wishes;
        DirtyNodes dirty;
        std::optional<std::map<std::string, Amounts>> foreign;
        bool list_shadows = false; // as in NodeSyncRequest
        Devices devices;
    };
    struct News {
        // Its nodes, hybrid and sizes went to KnownNodes.
        NodeSyncResult found;
        bool nodes_changed = false; // other Nodes are behind Slurm's nodes
        bool kinds_changed = false; // or others of these have a slurmd
        bool doubted = false;       // slurmctld went away meanwhile
        bool knew_devices = false;  // when it began
        // As in NodePlan, but by Node.
        std::set<std::string> cpu_nodes = {};
    };

    NodeSync(Context &context, const Errands &errands, const PluginLine &line,
             SyncTimes &times, const GangStore &gangs, KnownNodes &nodes)
        : context_(context), errands_(errands), line_(line), times_(times),
          gangs_(gangs), nodes_(nodes)
    {
    }

    // Begins a comparison, which is answered by NodesSynced.
    void begin(Wants wants);
    // Nothing: it has failed, and is repeated, or nothing has changed.
    std::optional<News> take(NodesSynced &synced);

  private:
    bool await_devices(const Devices &devices);
    NodePlanInput input_of(Wants wants);
    std::set<std::string> occupied_nodes() const;
    void say_problems(const NodeSyncResult &found);

    Context &context_;
    const Errands &errands_;
    const PluginLine &line_;
    SyncTimes &times_;
    const GangStore &gangs_;
    KnownNodes &nodes_;

    std::shared_ptr<NodeSyncState> state_ =
        std::make_shared<NodeSyncState>(); // of the one under way
    // When the one under way began: whether the devices were known, and how
    // often slurmctld had gone away.
    bool knew_devices_ = false;
    unsigned absences_ = 0;
    // Nodes wait for their devices until then; time_point::min(): no more.
    std::optional<Clock::time_point> devices_expected_until_;
};

} // namespace bridge
