// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claim_store.h"

#include "agent/extended_claim.h"

#include <algorithm>
#include <utility>

namespace bridge {

void ClaimStore::replace(std::vector<ResourceClaim> claims)
{
    listed_ = true;
    claims_.clear();
    taken_.clear();
    twice_.clear();
    for (ResourceClaim &claim : claims)
        put(std::move(claim));
}

void ClaimStore::put(ResourceClaim claim)
{
    ResourceClaimPtr &known = claims_[claim.key];
    if (known)
        unindex(*known);
    if (known && known->uid != claim.uid)
        held_.erase(known->uid);
    take_over_hold(claim);
    if (claim.allocated)
        held_.erase(claim.uid);
    known = std::make_shared<const ResourceClaim>(std::move(claim));
    index(*known);
}

// One that was held for before it was made.
void ClaimStore::take_over_hold(const ResourceClaim &claim)
{
    if (!claim.for_extended_resources)
        return;
    auto before = held_.find(uid_until_made(claim.owner_uid));
    if (before == held_.end() || before->second.claim != claim.key)
        return;
    auto hold = held_.extract(before);
    hold.key() = claim.uid;
    held_.insert(std::move(hold));
}

void ClaimStore::remove(const ObjectKey &key)
{
    auto known = claims_.find(key);
    if (known == claims_.end())
        return;
    unindex(*known->second);
    held_.erase(known->second->uid);
    claims_.erase(known);
}

ResourceClaimPtr ClaimStore::find(const ObjectKey &key) const
{
    auto found = claims_.find(key);
    return found == claims_.end() ? nullptr : found->second;
}

void ClaimStore::hold(const ObjectKey &claim, const std::string &uid,
                      const std::vector<DeviceId> &devices,
                      Clock::time_point now)
{
    auto is_over = [&](const auto &device) { return device.second <= now; };
    for (auto &[other, held] : held_)
        std::erase_if(held.until, is_over);
    std::erase_if(held_, [](const auto &entry) {
        return entry.second.until.empty();
    });
    // What came of an earlier try, with other devices, may not have been told yet.
    Held &held = held_[uid];
    held.claim = claim;
    for (const DeviceId &device : devices)
        held.until[device] = now + hold_time;
}

std::optional<std::string> ClaimStore::holder_of(const DeviceId &device,
                                                 const std::string &but_for_uid,
                                                 Clock::time_point now) const
{
    if (auto found = taken_.find(device); found != taken_.end())
        for (const auto &[uid, holder] : found->second)
            if (uid != but_for_uid)
                return holder.claim.str();
    for (const auto &[uid, held] : held_)
        if (auto found = held.until.find(device);
            uid != but_for_uid && found != held.until.end() &&
            found->second > now)
            return held.claim.str();
    return std::nullopt;
}

std::set<std::string> ClaimStore::taken_in(const std::string &driver,
                                           const std::string &pool,
                                           Clock::time_point now) const
{
    std::set<std::string> names;
    for (auto at = taken_.lower_bound({driver, pool, ""});
         at != taken_.end() && at->first.driver == driver &&
         at->first.pool == pool;
         ++at)
        names.insert(at->first.device);
    for (const auto &[uid, held] : held_)
        for (const auto &[device, until] : held.until)
            if (until > now && device.driver == driver && device.pool == pool)
                names.insert(device.device);
    return names;
}

DeviceClaims ClaimStore::owners() const
{
    DeviceClaims owners;
    for (const auto &[device, holders] : taken_)
        for (const auto &[uid, holder] : holders)
            (holder.ours ? owners.ours : owners.foreign).insert(device);
    return owners;
}

void ClaimStore::index(const ResourceClaim &claim)
{
    for (const DeviceId &device : claim.devices) {
        taken_[device][claim.uid] = {claim.key, claim.allocated_by_us,
                                     claim.in_shares.contains(device)};
        note_twice(device);
    }
}

void ClaimStore::note_twice(const DeviceId &device)
{
    const auto &holders = taken_[device];
    bool all_share = std::ranges::all_of(
        holders, [](const auto &holder) { return holder.second.in_share; });
    if (holders.size() > 1 && !all_share)
        twice_.insert(device);
    else
        twice_.erase(device);
}

void ClaimStore::unindex(const ResourceClaim &claim)
{
    for (const DeviceId &device : claim.devices)
        if (auto found = taken_.find(device); found != taken_.end()) {
            found->second.erase(claim.uid);
            note_twice(device);
            if (found->second.empty())
                taken_.erase(found);
        }
}

} // namespace bridge
