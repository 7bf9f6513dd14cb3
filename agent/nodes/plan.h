// SPDX-License-Identifier: GPL-2.0-or-later
// Plans how to bring Slurm's nodes in step with the Kubernetes Nodes that
// request it by label. Each such Node gets an external node, unless Slurm has a
// node of that name with a slurmd. That Node is then hybrid: Slurm and
// Kubernetes both start work on it, and the agent owns only its own features
// and drains there. A Node without the label is not changed, except that marks
// of the agent are removed. Pure.
#pragma once

#include "agent/gres/index.h"
#include "agent/nodes/marks.h"
#include "agent/nodes/step.h"
#include "agent/objects/foreign_pods.h"
#include "agent/objects/node_map.h"
#include "agent/objects/objects.h"
#include "agent/objects/predicate.h"
#include "common/contract/feature_labels.h"
#include "common/contract/node_pool.h"
#include "common/slurm/api.h"
#include "common/slurm/gres_counts.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

struct DeviceCatalog;
struct DeviceClaims;
struct DeviceInventory;

// Features that Slurm's nodes must have in addition to those of their Nodes.
struct FeatureWishes {
    // The nodes with a feature of their own (pin_prefix).
    std::set<std::string> pins;
    std::vector<PredicatePtr> predicates; // evaluated for each Node
    // Nodes that satisfy it get names::batch_feature; nothing: no node gets it.
    std::optional<Predicate> batch{};
    bool keep_others = false; // keep existing features of these kinds

    bool operator==(const FeatureWishes &) const = default;
};

// Slurm's names of the nodes that hold Pods without a running job; nothing
// while this is unknown.
using DirtyNodes = std::optional<std::set<std::string>>;

struct NodePlanInput {
    std::vector<NodePtr> nodes; // all Kubernetes Nodes
    // What Pods of other schedulers request, by Node. Nothing while this is
    // unknown: then no node is created and no size is compared.
    std::optional<std::map<std::string, Amounts>> foreign;
    FeatureWishes wishes;
    // The labels whose values become features.
    std::vector<FeatureLabel> feature_labels;
    DirtyNodes dirty;
    std::set<std::string> occupied; // Slurm nodes with living Pods of ours
    NodeMap before;                 // the present pairs of Slurm node and Node
    // The address of external nodes in Slurm: an IP literal and a port.
    std::string address;
    std::uint16_t port = 0;
    MarkPolicy marks;
    std::vector<NodePool> pools;  // whose Nodes an autoscaler makes
    std::vector<NodeUse> shadows; // the existing shadow jobs
    // Whether devices are counted as GRES; otherwise GRES are not the agent's.
    bool count_devices = false;
    std::shared_ptr<const DeviceInventory> devices; // null: not known yet
    bool await_devices = false; // create no node before they are known
    std::shared_ptr<const DeviceClaims> device_claims; // null: no claims
    std::shared_ptr<const DeviceCatalog> catalog;      // null: not known yet
    // Filled in by sync_nodes(), as is the address: GresTypes of slurm.conf,
    // the indexes after the last sync, and whether a Node's devices could
    // satisfy a condition: DeviceFits::can_satisfy(). Empty: not known yet.
    std::set<std::string> gres_types;
    std::map<std::string, DeviceIndex> devices_before;
    std::function<std::optional<bool>(const DeviceCondition &, const Node &)>
        has_devices{};
    // Filled in by sync_nodes(), too: kubelet_features_of() each hybrid node
    // when it had any. A node that has lost them gets them back.
    std::map<std::string, std::string> reported{};
};

// A Slurm node that differs from its plan in a property that Slurm cannot
// change on an existing node. It is recreated when nothing uses it.
struct Misfit {
    NodeDescription wish;
    std::string reason;
    bool of_devices = false; // only the devices differ
    bool at_once = false;    // as soon as it is idle: ResizeDelay is no use
};

struct NodePlan {
    NodeMap nodes;                // by Slurm's node name
    std::set<std::string> hybrid; // those that have a slurmd
    std::set<std::string> pinned; // nodes with their pin after the steps
    // Nodes that have names::cpu_devices_feature and CPU devices after the
    // steps.
    std::set<std::string> cpu_nodes;
    // By Slurm's name: the features of the predicates that each node satisfies.
    std::map<std::string, std::vector<std::string>> placed; // after the steps
    // The features of the predicates that ask for devices, and that some Node
    // satisfies but for its devices.
    std::set<std::string> selected;
    // What the GRES indexes of each Slurm node stand for after the steps.
    std::map<std::string, DeviceIndex> devices;
    // Amounts of devices that are counted without indexes, by Slurm's node
    // name.
    std::map<std::string, GresCounts> amounts;
    // How many indexes of each GRES Slurm has on each node of `devices`, and
    // how many of each type. They are the first ones: a device that has come
    // since the node was created is not counted yet, and a slurmctld that came
    // back from an older state may have lost the GRES. Those that GresTypes
    // does not name now count as before.
    std::map<std::string, GresCounts> index_counts;
    std::vector<NodeStep> steps;
    std::vector<NodePatch> patches;
    std::vector<Misfit> misfits;
    // What Slurm may allocate on a node beyond what its kubelet has.
    std::map<std::string, NodeRoom> shortages;
    bool shortages_known = false; // `shortages` is complete
    // Nodes of ours that are drained and that no Node requests: to be deleted
    // when nothing uses them.
    std::vector<std::string> unclaimed;
    // A feature changed that may select a partition. Slurm evaluates those only
    // when nodes are created or deleted.
    bool partitions_changed = false;
    bool sync_again = false; // plan again when more is known
    // A node that no Node requests still has Pods of ours; neither Slurm's
    // nodes nor the Nodes will show when they end.
    bool leaving = false;
    std::vector<std::string> warnings;          // for the log, one message each
    std::map<std::string, std::string> refused; // the reason, by Node
};

NodePlan plan_nodes(const NodePlanInput &input,
                    const std::vector<SlurmNode> &known,
                    const std::vector<Reservation> &reservations = {});

// Whether the two states of a Node lead to the same plan; heartbeats do not
// matter.
bool same_for_slurm(const Node &a, const Node &b);

} // namespace bridge
