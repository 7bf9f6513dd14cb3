// SPDX-License-Identifier: GPL-2.0-or-later
// The PersistentVolumeClaims of a Pod: where their volumes can be reached, what
// must be written so that they are bound, and why a Pod still has to wait for
// them. Pure. A worker reads the objects when a gang needs them; they are not
// watched.
//
//   claim                           consequence
//   ------------------------------  -------------------------------------------
//   missing, being deleted, lost,   wait
//   ephemeral one of another Pod
//   bound                           the Pod goes where its volume is reachable
//   unbound, Immediate              wait: it gets bound without us
//   unbound, WaitForFirstConsumer:
//     class without provisioner     the Pod goes where a free volume fits; the
//                                   claim gets one that is reachable from the
//                                   node that Slurm chose
//     class with provisioner        the Pod goes where allowedTopologies allow;
//                                   the claim is told the node that Slurm chose
#pragma once

#include "agent/objects/predicate.h"
#include "common/base/json.h"
#include "common/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// A volume of a Pod that is a PersistentVolumeClaim.
struct ClaimRef {
    std::string name;
    bool ephemeral = false; // created for the Pod and owned by it

    bool operator==(const ClaimRef &) const = default;
};

std::vector<ClaimRef> claims_of(const Json &pod);

struct Claim { // a PersistentVolumeClaim
    std::string ns;
    std::string name;
    std::string uid;
    std::string resource_version;
    std::string owner_uid; // uid of its controller
    bool deleting = false;
    std::string phase;  // Pending, Bound, Lost
    std::string volume; // empty: none yet
    bool bound = false; // completely bound to that volume
    // Nothing: it may still get the default class.
    std::optional<std::string> storage_class;
    std::string selected_node;
    std::set<std::string> access_modes;
    std::string volume_mode = "Filesystem";
    std::int64_t storage = 0; // bytes
    bool selects = false;     // has a selector for volumes
    // The matchLabels of that selector.
    std::map<std::string, std::string> match_labels;
    bool odd_selector = false; // it also has matchExpressions
};

struct Volume { // a PersistentVolume
    std::string name;
    std::string uid;
    std::string resource_version;
    bool deleting = false;
    std::string phase; // Available, Bound, Released, …
    std::string storage_class;
    std::string claimed_by; // "ns/name" of its claim, or empty
    std::string claimed_uid;
    std::set<std::string> access_modes;
    std::string volume_mode = "Filesystem";
    std::int64_t storage = 0; // bytes
    std::map<std::string, std::string> labels;
    // Where the volume can be reached. Nothing: everywhere. An affinity that
    // cannot be read is an empty selector: nowhere.
    std::optional<NodeSelector> affinity;
};

struct StorageClass {
    std::string name;
    std::string provisioner;
    bool waits_for_consumer = false; // WaitForFirstConsumer
    NodeSelector topologies;         // empty: everywhere
    bool has_topologies = false;
};

Claim claim_from(const Json &object);
Volume volume_from(const Json &object);
StorageClass storage_class_from(const Json &object);

// Provisioner of the classes that provision nothing: their volumes are created
// by hand, or from the local disks of each node.
inline constexpr char no_provisioner[] = "kubernetes.io/no-provisioner";

// All objects that the claims of one Pod refer to, as they were read.
struct VolumeFacts {
    std::map<std::string, Claim> claims; // by name
    // By name: the bound ones, and all volumes if a claim may need one.
    std::map<std::string, Volume> volumes;
    std::map<std::string, StorageClass> classes; // by name
};

struct VolumeNeeds {
    std::string reason; // why the Pod waits for its claims, or empty
    std::vector<NodeSelector>
        selectors;        // where its volumes can be reached; all must hold
    bool unbound = false; // a claim waits to be told its node
    // Why the node that Slurm chose does not suit the claims, or empty.
    std::string misfit;

    bool operator==(const VolumeNeeds &) const = default;
};

VolumeNeeds volume_needs(const std::vector<ClaimRef> &claims,
                         const std::string &pod_uid, const VolumeFacts &facts);

// What must be written for an unbound claim once its node is chosen.
struct ClaimStep {
    std::string claim;
    std::string volume; // the volume that it gets; empty: tell it the node
};

// Returns the steps for all claims; a claim that has been told already needs
// none. Code::conflict if no free volume that fits can be reached from the
// node.
Result<std::vector<ClaimStep>> claim_steps(const std::vector<ClaimRef> &claims,
                                           const VolumeFacts &facts,
                                           const Node &node);

} // namespace bridge
