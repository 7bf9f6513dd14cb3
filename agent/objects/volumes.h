// SPDX-License-Identifier: GPL-2.0-or-later
// A Pod's volume claims: where the volumes behind them can be reached, what has
// to be done so that they are bound, and why a Pod still has to wait for them.
// Pure; the objects are read by a worker when a gang needs them, and not
// watched.
//
//   claim                           what follows
//   ------------------------------  --------------------------------------------
//   missing, being deleted, lost,   wait
//   another Pod's ephemeral one
//   bound                           the Pod goes where its volume can be reached
//   unbound, Immediate              wait: it is bound without us
//   unbound, WaitForFirstConsumer:
//     class without provisioner     where some free volume fits; on the node that
//                                   Slurm chose one of these is given to it
//     with provisioner              where allowedTopologies allow; the claim is
//                                   told the node that Slurm chose
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

// A volume of a Pod that is a claim.
struct ClaimRef {
    std::string name;
    bool ephemeral = false; // made for the Pod, and owned by it

    bool operator==(const ClaimRef &) const = default;
};

std::vector<ClaimRef> claims_of(const Json &pod);

struct Claim { // a PersistentVolumeClaim
    std::string ns;
    std::string name;
    std::string uid;
    std::string resource_version;
    std::string owner_uid; // of its controller
    bool deleting = false;
    std::string phase;                        // Pending, Bound, Lost
    std::string volume;                       // empty: none yet
    bool bound = false;                       // to that volume, completely
    std::optional<std::string> storage_class; // none: the default, some day
    std::string selected_node;
    std::set<std::string> access_modes;
    std::string volume_mode = "Filesystem";
    std::int64_t storage = 0; // bytes
    bool selects = false;     // has a selector of volumes
    std::map<std::string, std::string> match_labels; // of it
    bool odd_selector = false;                       // has matchExpressions too
};

struct Volume { // a PersistentVolume
    std::string name;
    std::string uid;
    std::string resource_version;
    bool deleting = false;
    std::string phase; // Available, Bound, Released, …
    std::string storage_class;
    std::string claimed_by; // "ns/name", and the uid; empty: nobody's
    std::string claimed_uid;
    std::set<std::string> access_modes;
    std::string volume_mode = "Filesystem";
    std::int64_t storage = 0; // bytes
    std::map<std::string, std::string> labels;
    // None: reachable from everywhere. Unreadable ones count as nowhere.
    std::optional<NodeSelector> affinity;
};

struct StorageClass {
    std::string name;
    std::string provisioner;
    bool waits_for_consumer = false; // WaitForFirstConsumer
    NodeSelector topologies;         // none: everywhere
    bool has_topologies = false;
};

Claim claim_from(const Json &object);
Volume volume_from(const Json &object);
StorageClass storage_class_from(const Json &object);

// The classes for which nothing is provisioned: volumes are made by hand, or
// from the disks of each node.
inline constexpr char no_provisioner[] = "kubernetes.io/no-provisioner";

// Everything about the claims of one Pod, as it was read.
struct VolumeFacts {
    std::map<std::string, Claim> claims;   // by name
    std::map<std::string, Volume> volumes; // by name: those that are bound,
                                           // and all when one may be needed
    std::map<std::string, StorageClass> classes; // by name
};

struct VolumeNeeds {
    std::string why; // the Pod waits for its claims; empty: it need not
    std::vector<NodeSelector>
        selectors;        // where its volumes can be, all of them
    bool unbound = false; // some claim waits to be told its node
    // The node that Slurm chose has no volume for it; empty: it has.
    std::string misfit;

    bool operator==(const VolumeNeeds &) const = default;
};

VolumeNeeds volume_needs(const std::vector<ClaimRef> &claims,
                         const std::string &pod_uid, const VolumeFacts &facts);

// What has to be written for an unbound claim once its node is chosen.
struct ClaimStep {
    std::string claim;
    std::string volume; // to be given to the claim; empty: tell it the node
};

// For all of them; none for a claim that has been told already. Code::conflict
// when no free volume that fits can be reached from the node.
Result<std::vector<ClaimStep>> claim_steps(const std::vector<ClaimRef> &claims,
                                           const VolumeFacts &facts,
                                           const Node &node);

} // namespace bridge
