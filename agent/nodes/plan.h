// SPDX-License-Identifier: GPL-2.0-or-later
// What has to be done so that Slurm's nodes are in step with the Kubernetes
// Nodes that ask for it by label: an external node is made for each, unless
// Slurm has a node of that name with a slurmd. Such a Node is hybrid: both
// sides start work on it, and we own its k8s… features and our drains, nothing
// else. Nodes without the label are never touched, but to take back marks of
// ours. Pure.
#pragma once

#include "agent/gres/index.h"
#include "agent/nodes/marks.h"
#include "agent/nodes/step.h"
#include "agent/objects/foreign_pods.h"
#include "agent/objects/node_map.h"
#include "agent/objects/objects.h"
#include "agent/objects/predicate.h"
#include "common/contract/feature_labels.h"
#include "common/slurm/api.h"
#include "common/slurm/gres_counts.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

struct DeviceClaims;
struct DeviceInventory;

// The features that Slurm's nodes shall have besides those of their Nodes.
struct FeatureWishes {
    std::set<std::string> pins; // who has one that no other has: pin_prefix
    std::vector<PredicatePtr> predicates; // evaluated for each Node
    // Who satisfies it has names::batch_feature; nothing: no node has that.
    std::optional<Predicate> batch{};
    bool keep_others = false; // of all kinds: those that nodes have stay

    bool operator==(const FeatureWishes &) const = default;
};

// Slurm's names of the nodes that hold Pods which no living job covers; nothing
// while that is not known.
using DirtyNodes = std::optional<std::set<std::string>>;

struct NodePlanInput {
    std::vector<NodePtr> nodes; // every Node of Kubernetes
    // What Pods of other schedulers take, by Node; nothing while that is not
    // known: then no node is made and no size is judged.
    std::optional<std::map<std::string, Amounts>> foreign;
    FeatureWishes wishes;
    std::vector<FeatureLabel> feature_labels; // whose values are features
    DirtyNodes dirty;
    std::set<std::string> occupied; // Slurm nodes with living Pods of ours
    NodeMap before;                 // who had which Slurm node until now
    // Where external nodes are said to be, an IP literal and a port.
    std::string address;
    std::uint16_t port = 0;
    MarkPolicy marks;
    std::vector<NodeUse> shadows; // those that there are
    bool count_devices = false;   // as GRES; else those of a node are not ours
    std::shared_ptr<const DeviceInventory> devices; // null: not known yet
    bool await_devices = false; // no node is made before they are known
    std::shared_ptr<const DeviceClaims> device_claims; // null: of none
    // Filled in as address is: of slurm.conf, and what the last sync left.
    std::set<std::string> gres_types;
    std::map<std::string, DeviceIndex> devices_before;
};

// A Slurm node that is not as it should be, in what cannot be changed while it
// exists: to be made anew when nothing needs it.
struct Misfit {
    NodeDescription wish;
    std::string why;
    bool of_devices = false; // alone
};

struct NodePlan {
    NodeMap nodes;                // by the name of the Slurm node
    std::set<std::string> hybrid; // those of them that have a slurmd
    std::set<std::string> pinned; // once the steps are done
    // Likewise: those that have names::cpu_devices_feature and the devices.
    std::set<std::string> cpu_nodes;
    // By Slurm's name: the features of the predicates that each satisfies.
    std::map<std::string, std::vector<std::string>> placed; // likewise
    // What the GRES indexes of each Slurm node stand for, once the steps are
    // done.
    std::map<std::string, DeviceIndex> devices;
    // How many each has of what is counted of devices without indexes.
    std::map<std::string, GresCounts> amounts;
    std::vector<NodeStep> steps;
    std::vector<NodePatch> patches;
    std::vector<Misfit> misfits;
    // What Slurm gives away of a node, and its kubelet has not.
    std::map<std::string, NodeRoom> shortages;
    bool shortages_known = false; // these are all
    // Ours, drained, and asked for by no Node: to be deleted likewise.
    std::vector<std::string> unclaimed;
    // A feature changed that may name a partition: Slurm looks at those only
    // when nodes come or go.
    bool partitions_changed = false;
    bool look_again = false; // more is known later
    // Of a node that nobody asks for some Pod of ours has not ended yet, which
    // neither side's nodes will tell.
    bool leaving = false;
    std::vector<std::string> complaints; // for the log, one sentence each
    std::map<std::string, std::string> refused; // why, by Node
};

NodePlan plan_nodes(const NodePlanInput &input,
                    const std::vector<SlurmNode> &known,
                    const std::vector<Reservation> &reservations = {});

// Whether a change of this Node can change the plan; heartbeats do not.
bool same_for_slurm(const Node &a, const Node &b);

} // namespace bridge
