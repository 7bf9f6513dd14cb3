// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_store.h"

#include "agent/claims/consumed_capacity.h"
#include "agent/gres/extended_claim.h"

#include <algorithm>
#include <utility>

namespace bridge {

void ClaimStore::replace(std::vector<ResourceClaim> claims)
{
    listed_ = true;
    claims_.clear();
    taken_.clear();
    twice_.clear();
    changes_.clear();
    for (const auto &[device, uids] : held_devices_)
        note_change(device);
    for (ResourceClaim &claim : claims)
        put(std::move(claim));
}

void ClaimStore::put(ResourceClaim claim)
{
    ResourceClaimPtr &known = claims_[claim.key];
    if (known)
        unindex(*known);
    if (known && known->uid != claim.uid)
        erase_hold(known->uid);
    transfer_hold(claim);
    if (claim.allocated)
        erase_hold(claim.uid);
    known = std::make_shared<const ResourceClaim>(std::move(claim));
    index(*known);
    limit_texts(*known);
}

void ClaimStore::limit_texts(const ResourceClaim &claim)
{
    if (claim.text.empty())
        return;
    with_text_.push_back(claim.key);
    if (with_text_.size() <= max_texts)
        return;
    auto oldest = claims_.find(with_text_.front());
    with_text_.pop_front();
    if (oldest == claims_.end() || oldest->second->text.empty())
        return;
    ResourceClaim without = *oldest->second;
    without.text = {};
    oldest->second = std::make_shared<const ResourceClaim>(std::move(without));
}

// Moves a hold that was set before the claim was created to the uid of the
// claim.
void ClaimStore::transfer_hold(const ResourceClaim &claim)
{
    if (!claim.for_extended_resources)
        return;
    auto before = held_.find(uid_until_made(claim.owner_uid));
    if (before == held_.end() || before->second.claim != claim.key)
        return;
    Held hold = before->second;
    erase_hold(uid_until_made(claim.owner_uid));
    auto [made, fresh] = held_.try_emplace(claim.uid, std::move(hold));
    for (const auto &[device, until] : made->second.until)
        index_hold(device, claim.uid);
}

void ClaimStore::erase_hold(const std::string &uid)
{
    auto held = held_.find(uid);
    if (held == held_.end())
        return;
    for (const auto &[device, until] : held->second.until)
        unindex_hold(device, uid);
    held_.erase(held);
}

void ClaimStore::index_hold(const DeviceId &device, const std::string &uid)
{
    held_devices_[device].insert(uid);
    note_change(device);
}

void ClaimStore::unindex_hold(const DeviceId &device, const std::string &uid)
{
    auto uids = held_devices_.find(device);
    if (uids == held_devices_.end())
        return;
    uids->second.erase(uid);
    if (uids->second.empty())
        held_devices_.erase(uids);
    note_change(device);
}

void ClaimStore::note_change(const DeviceId &device)
{
    if (any_in(device.driver, device.pool))
        changes_[{device.driver, device.pool}] = ++last_change_;
    else
        changes_.erase({device.driver, device.pool});
}

bool ClaimStore::any_in(const std::string &driver,
                        const std::string &pool) const
{
    auto has = [&](const auto &devices) {
        auto first = devices.lower_bound({driver, pool, ""});
        return first != devices.end() && first->first.driver == driver &&
               first->first.pool == pool;
    };
    return has(taken_) || has(held_devices_);
}

std::uint64_t ClaimStore::changes_in(const std::string &driver,
                                     const std::string &pool) const
{
    auto found = changes_.find({driver, pool});
    return found == changes_.end() ? 0 : found->second;
}

// Removes expired devices from the hold, so that a later write does not renew
// them.
void ClaimStore::forget_expired(const std::string &uid, Held &held,
                                Clock::time_point now)
{
    std::erase_if(held.until, [&](const auto &entry) {
        bool over = !held.has(entry.first, now);
        if (over)
            unindex_hold(entry.first, uid);
        return over;
    });
}

// Removes expired holds now and then, only to free memory.
void ClaimStore::sweep_holds(Clock::time_point now)
{
    if (!holds_sweep_.is_due(held_.size()))
        return;
    for (auto &[uid, held] : held_)
        forget_expired(uid, held, now);
    std::erase_if(held_,
                  [](const auto &entry) { return entry.second.until.empty(); });
    holds_sweep_.swept(held_.size());
}

// Returns the claims (uids) for which the device is or was held.
const std::set<std::string> &
ClaimStore::holders_of(const DeviceId &device) const
{
    static const std::set<std::string> nobody;
    auto found = held_devices_.find(device);
    return found == held_devices_.end() ? nobody : found->second;
}

void ClaimStore::remove(const ObjectKey &key)
{
    auto known = claims_.find(key);
    if (known == claims_.end())
        return;
    unindex(*known->second);
    erase_hold(known->second->uid);
    claims_.erase(known);
    deleted_.push_back(key);
    if (deleted_.size() > max_deleted)
        deleted_.pop_front();
}

bool ClaimStore::was_deleted(const ObjectKey &key) const
{
    return !claims_.contains(key) && std::ranges::contains(deleted_, key);
}

ClaimStore::Counts ClaimStore::count() const
{
    Counts counts;
    for (const auto &[key, claim] : claims_) {
        if (!claim->allocated)
            counts.pending++;
        else if (claim->reserved_for.empty())
            counts.allocated++;
        else
            counts.reserved++;
    }
    return counts;
}

ResourceClaimPtr ClaimStore::find(const ObjectKey &key) const
{
    auto found = claims_.find(key);
    return found == claims_.end() ? nullptr : found->second;
}

void ClaimStore::hold(const ObjectKey &claim, const std::string &uid,
                      const std::string &gang,
                      const std::vector<DeviceId> &devices,
                      Clock::time_point now,
                      const std::map<DeviceId, Capacities> &shares)
{
    sweep_holds(now);
    if (auto known = held_.find(uid); known != held_.end()) {
        forget_expired(uid, known->second, now);
        if (known->second.until.empty())
            held_.erase(known);
    }
    // Devices of an earlier attempt stay held: its outcome may not be known
    // yet.
    Held &held = held_[uid];
    held.claim = claim;
    held.writers.insert(gang);
    for (const DeviceId &device : devices) {
        held.until[device] = now + hold_time;
        index_hold(device, uid);
    }
    for (const auto &[device, consumed] : shares)
        for (const auto &[name, amount] : consumed) {
            Quantity &most = held.shares[device][name];
            most = std::max(most, amount);
        }
}

// Looks holds up by key: a claim that did not exist at hold() has another uid
// now.
void ClaimStore::end_write(const ObjectKey &claim, const std::string &gang,
                           Clock::time_point now)
{
    for (auto &[uid, held] : held_) {
        if (held.claim != claim || held.writers.erase(gang) == 0 ||
            !held.writers.empty())
            continue;
        for (auto &[device, until] : held.until)
            until = now + hold_time;
    }
}

void ClaimStore::release_hold(const std::string &uid)
{
    if (auto held = held_.find(uid);
        held != held_.end() && held->second.writers.empty())
        erase_hold(uid);
}

bool ClaimStore::holds_for(const std::string &uid, Clock::time_point now) const
{
    auto held = held_.find(uid);
    return held != held_.end() &&
           std::ranges::any_of(held->second.until, [&](const auto &entry) {
               return held->second.has(entry.first, now);
           });
}

bool ClaimStore::Held::has(const DeviceId &device, Clock::time_point now) const
{
    auto found = until.find(device);
    return found != until.end() && (!writers.empty() || found->second > now);
}

std::optional<std::string> ClaimStore::holder_of(const DeviceId &device,
                                                 const std::string &but_for_uid,
                                                 Clock::time_point now) const
{
    if (auto found = taken_.find(device); found != taken_.end())
        for (const auto &[uid, holder] : found->second)
            if (uid != but_for_uid)
                return holder.claim.str();
    for (const std::string &uid : holders_of(device))
        if (const Held &held = held_.at(uid);
            uid != but_for_uid && held.has(device, now))
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
    for (auto at = held_devices_.lower_bound({driver, pool, ""});
         at != held_devices_.end() && at->first.driver == driver &&
         at->first.pool == pool;
         ++at)
        if (std::ranges::any_of(at->second, [&](const std::string &uid) {
                return held_.at(uid).has(at->first, now);
            }))
            names.insert(at->first.device);
    return names;
}

std::optional<Capacities>
ClaimStore::consumed_of(const DeviceId &device,
                        const std::set<std::string> &but_for_uids,
                        Clock::time_point now) const
{
    Capacities sum;
    if (auto found = taken_.find(device); found != taken_.end())
        for (const auto &[uid, holder] : found->second) {
            if (but_for_uids.contains(uid))
                continue;
            if (!holder.in_share)
                return std::nullopt;
            add_capacities(sum, holder.consumed);
        }
    for (const std::string &uid : holders_of(device)) {
        const Held &held = held_.at(uid);
        if (but_for_uids.contains(uid) || !held.has(device, now))
            continue;
        auto share = held.shares.find(device);
        if (share == held.shares.end())
            return std::nullopt;
        add_capacities(sum, share->second);
    }
    return sum;
}

DeviceClaims ClaimStore::owners() const
{
    DeviceClaims owners;
    for (const auto &[device, holders] : taken_)
        for (const auto &[uid, holder] : holders) {
            (holder.ours ? owners.ours : owners.foreign).insert(device);
            if (!holder.in_share)
                continue;
            add_capacities(owners.shares[device], holder.consumed);
            if (!holder.ours)
                add_capacities(owners.foreign_shares[device], holder.consumed);
        }
    return owners;
}

void ClaimStore::index(const ResourceClaim &claim)
{
    for (const DeviceId &device : claim.devices) {
        bool in_share = claim.in_shares.contains(device);
        auto consumed = claim.consumed.find(device);
        taken_[device][claim.uid] = {
            claim.key, claim.allocated_by_us, in_share,
            consumed == claim.consumed.end() ? Capacities{} : consumed->second};
        update_twice(device);
        note_change(device);
    }
}

void ClaimStore::update_twice(const DeviceId &device)
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
            update_twice(device);
            if (found->second.empty())
                taken_.erase(found);
            note_change(device);
        }
}

} // namespace bridge
