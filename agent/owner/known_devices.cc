// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/known_devices.h"

#include <utility>

namespace bridge {

namespace {

constexpr char twice_problem[] = "devices";

} // namespace

void KnownDevices::replace(std::vector<ResourceSlice> slices)
{
    store_.replace(std::move(slices));
    settle_slices();
}

void KnownDevices::put(ResourceSlice slice, bool deleted)
{
    context_.health.count("resourceslice");
    store_.put(std::move(slice), deleted);
    settle_slices();
}

void KnownDevices::settle_slices()
{
    if (store_.settle(context_.now))
        sync_.sync_now();
    else if (auto later = store_.settle_due())
        sync_.sync_by(*later);
}

void KnownDevices::replace(std::vector<DeviceClass> classes)
{
    store_.replace(std::move(classes));
    sync_.sync_now();
}

void KnownDevices::put(DeviceClass device_class, bool deleted)
{
    store_.put(std::move(device_class), deleted);
    sync_.sync_now();
}

void KnownDevices::replace(std::vector<ResourceClaim> claims)
{
    claims_.replace(std::move(claims));
    claims_changed();
    sync_.sync_now();
}

std::set<std::string> KnownDevices::put(ResourceClaim claim, bool deleted)
{
    ObjectKey key = claim.key;
    note_foreign(claim, deleted);
    freed_ |= deleted;
    if (deleted)
        claims_.remove(key);
    else
        claims_.put(std::move(claim));
    claims_changed();
    return users_.changed(key, deleted);
}

// Devices that others have allocated cannot be given out by Slurm until they
// are given back.
void KnownDevices::note_foreign(const ResourceClaim &claim, bool deleted)
{
    ResourceClaimPtr before = claims_.find(claim.key);
    bool was = before && before->allocated && !before->allocated_by_us;
    bool is = !deleted && claim.allocated && !claim.allocated_by_us;
    freed_ |= before && before->allocated && !claim.allocated;
    bool same = was && is && before->devices == claim.devices;
    if ((was || is) && !same)
        sync_.sync_now();
}

// Only those who write claims can prevent that; the documentation of Kubernetes
// says the same of its own scheduler.
void KnownDevices::claims_changed()
{
    const std::set<DeviceId> &twice = claims_.taken_twice();
    if (twice.empty())
        context_.health.solved(twice_problem);
    else
        context_.health.problem(twice_problem,
                                "device " + twice.begin()->str() +
                                    " is in several ResourceClaims");
}

NodeSync::Devices KnownDevices::to_sync()
{
    (void)store_.settle(context_.now);
    if (claims_.listed())
        store_.set_claims(claims_.owners());
    NodeSync::Devices devices{
        .counted = on(), .known = all_known(), .claims = store_.claims()};
    if (!devices.known)
        return devices;
    devices.inventory = store_.inventory();
    if (devices.counted)
        devices.catalog = catalog();
    return devices;
}

void KnownDevices::take(NodeSyncResult &found, std::set<std::string> cpu_nodes)
{
    store_.set_indexes(std::move(found.devices));
    store_.set_index_counts(std::move(found.index_counts));
    store_.set_amounts(std::move(found.amounts));
    store_.set_cpu_nodes(std::move(cpu_nodes));
    store_.take_inventory(std::move(found.inventory));
}

std::optional<DeviceChange> KnownDevices::pop_change()
{
    settle_slices();
    if (!on() || !known())
        return std::nullopt;
    auto now = catalog();
    bool others = now != seen_;
    if (!std::exchange(freed_, false) && !others)
        return std::nullopt;
    seen_ = std::move(now);
    return others ? DeviceChange::others : DeviceChange::freed;
}

void KnownDevices::reserve(const std::string &gang, const Bind &bind)
{
    for (const ClaimPlan &plan : bind.claims)
        if (!plan.allocated)
            claims_.hold(plan.key, plan.uid, gang, plan.devices(), context_.now,
                         plan.shares);
}

void KnownDevices::end_writes(const std::string &gang, const Bind &bind)
{
    for (const ClaimPlan &plan : bind.claims)
        claims_.end_write(plan.key, gang, context_.now);
}

} // namespace bridge
