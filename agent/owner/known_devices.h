// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of devices: ResourceSlices, DeviceClasses and ResourceClaims as
// the watches report them, what workers are about to write into claims, and
// which gangs need which claim. It decides nothing about a gang. Owner thread
// only.
#pragma once

#include "agent/gang/action.h"
#include "agent/gres/claim_store.h"
#include "agent/gres/device_store.h"
#include "agent/owner/claim_users.h"
#include "agent/owner/context.h"
#include "agent/owner/node_sync.h"
#include "agent/owner/sync_times.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// Why Pods that wait for devices may get them now.
enum class DeviceChange {
    freed,  // some were given back
    others, // Nodes, drivers or classes have changed
};

class KnownDevices {
  public:
    KnownDevices(Context &context, SyncTimes &sync, GangStore &gangs)
        : context_(context), sync_(sync),
          store_(context.conf->device_gres, context.conf->capacity_gres),
          users_(gangs)
    {
    }

    // Whether k8s.conf counts any.
    bool on() const { return store_.on(); }
    // Whether slices and classes are listed, and claims, too.
    bool known() const { return store_.known(); }
    bool all_known() const { return known() && claims_.listed(); }
    // What the watches show. The last one returns the gangs (uids) that need
    // the claim.
    void replace(std::vector<ResourceSlice> slices);
    void put(ResourceSlice slice, bool deleted);
    void replace(std::vector<DeviceClass> classes);
    void put(DeviceClass device_class, bool deleted);
    void replace(std::vector<ResourceClaim> claims);
    std::set<std::string> put(ResourceClaim claim, bool deleted);

    // What a sync of Slurm's nodes is to count, and what it found.
    // cpu_nodes: as in NodeSync::News.
    NodeSync::Devices to_sync();
    void take(NodeSyncResult &found, std::set<std::string> cpu_nodes);

    // Returns what has changed since the last call, if anything has.
    std::optional<DeviceChange> pop_change();

    const ClaimStore &claims() const { return claims_; }
    // The current state, never null. A later change creates a new object.
    std::shared_ptr<const DeviceCatalog> catalog() { return store_.catalog(); }

    // The Pod of this gang needs its claims; who needs this claim (uids).
    void add_user(const Gang &gang, const Pod &pod) { users_.add(gang, pod); }
    const std::set<std::string> &users_of(const ObjectKey &claim) const
    {
        return users_.of(claim);
    }

    // A worker is about to write the gang's claims: another Pod's plan may be
    // made before the watch shows them. The worker has finished; it has written
    // nothing into this claim.
    void reserve(const std::string &gang, const Bind &bind);
    void end_writes(const std::string &gang, const Bind &bind);
    void not_written(const ClaimPlan &plan) { claims_.release_hold(plan.uid); }

  private:
    void settle_slices();
    void note_foreign(const ResourceClaim &claim, bool deleted);
    void claims_changed();

    Context &context_;
    SyncTimes &sync_;
    ClaimStore claims_;
    DeviceStore store_;
    ClaimUsers users_;
    // Of the last change that was reported, and what was given back since.
    std::shared_ptr<const DeviceCatalog> seen_;
    bool freed_ = false;
};

} // namespace bridge
