// SPDX-License-Identifier: GPL-2.0-or-later
// All ResourceClaims of the cluster as the watch reports them, and which
// devices are taken: by any claim, allocated by us or not, and by what we are
// about to write. Belongs to the owner thread.
#pragma once

#include "agent/claims/resource_claim.h"
#include "agent/gres/inventory.h"
#include "common/base/mailbox.h"
#include "common/base/sweep_mark.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

class ClaimStore {
  public:
    // Replaces everything by a complete list.
    void replace(std::vector<ResourceClaim> claims);
    void put(ResourceClaim claim);
    void remove(const ObjectKey &key);
    bool listed() const { return listed_; }
    // Returns true if the watch has shown the end of a claim of that name, and
    // no other one since. Only the last max_deleted are known.
    bool was_deleted(const ObjectKey &key) const;
    static constexpr std::size_t max_deleted = 1000;

    // How many there are: allocated ones in use, allocated ones that no Pod
    // uses, and those without devices.
    struct Counts {
        std::uint64_t reserved = 0;
        std::uint64_t allocated = 0;
        std::uint64_t pending = 0;
    };
    Counts count() const;

    // Returns the claim, or null if there is none.
    ResourceClaimPtr find(const ObjectKey &key) const;

    // Marks the devices that a worker is about to write into the claim (its
    // uid) for that gang (uid). They count as taken until the watch shows an
    // allocation of the claim or its end, or else until hold_time after
    // end_write(): by then the outcome of the write is known, whereas before
    // end_write() the API server may take any time. A claim that does not exist
    // yet has the uid uid_until_made(). shares: what the claim will consume of
    // devices of which it gets only a share.
    void hold(const ObjectKey &claim, const std::string &uid,
              const std::string &gang, const std::vector<DeviceId> &devices,
              Clock::time_point now,
              const std::map<DeviceId, Capacities> &shares = {});
    // The gang's worker has finished the write, successfully or not.
    void end_write(const ObjectKey &claim, const std::string &gang,
                   Clock::time_point now);
    static constexpr std::chrono::seconds hold_time{60};
    // The JSON text is kept only for this many claims, the most recently
    // changed: they are more likely to get devices soon than those that have
    // waited for long.
    static constexpr std::size_t max_texts = 1000;
    // Releases the devices because nothing was written to the claim. Keeps them
    // while the worker of another gang may write.
    void release_hold(const std::string &uid);
    // Returns true if devices are held for the claim (its uid): the watch may
    // not have shown its allocation yet.
    bool holds_for(const std::string &uid, Clock::time_point now) const;

    // Returns the claim, other than the one with that uid, that has the device
    // now, as "ns/name". Nothing: no other claim has it.
    std::optional<std::string> holder_of(const DeviceId &device,
                                         const std::string &but_for_uid,
                                         Clock::time_point now) const;

    // Returns the names of all devices of the pool that are taken.
    std::set<std::string> taken_in(const std::string &driver,
                                   const std::string &pool,
                                   Clock::time_point now) const;

    // Returns a number that changes whenever devices of the pool are taken,
    // held or given back, but not when the time of a hold is over; 0 while none
    // is.
    std::uint64_t changes_in(const std::string &driver,
                             const std::string &pool) const;

    // Returns what the shares of the device consume now, held ones included,
    // not counting the claims with these uids. Nothing: a claim has the whole
    // device.
    std::optional<Capacities>
    consumed_of(const DeviceId &device,
                const std::set<std::string> &but_for_uids,
                Clock::time_point now) const;

    // Returns all taken devices, by who allocated them: the agent or others.
    DeviceClaims owners() const;

    // Devices that several claims have although not all of them have shares,
    // which must never happen.
    const std::set<DeviceId> &taken_twice() const { return twice_; }

  private:
    struct Holder {
        ObjectKey claim;
        bool ours = false;
        bool in_share = false;
        Capacities consumed; // by its shares
    };
    struct Held {
        ObjectKey claim;
        std::set<std::string> writers; // gangs whose workers are still writing
        // Applies once there are no writers.
        std::map<DeviceId, Clock::time_point> until;
        std::map<DeviceId, Capacities> shares;

        bool has(const DeviceId &device, Clock::time_point now) const;
    };
    void transfer_hold(const ResourceClaim &claim);
    void erase_hold(const std::string &uid);
    void index_hold(const DeviceId &device, const std::string &uid);
    void unindex_hold(const DeviceId &device, const std::string &uid);
    void note_change(const DeviceId &device);
    bool any_in(const std::string &driver, const std::string &pool) const;
    void forget_expired(const std::string &uid, Held &held,
                        Clock::time_point now);
    void sweep_holds(Clock::time_point now);
    const std::set<std::string> &holders_of(const DeviceId &device) const;
    void limit_texts(const ResourceClaim &claim);
    void index(const ResourceClaim &claim);
    void unindex(const ResourceClaim &claim);
    void update_twice(const DeviceId &device);

    bool listed_ = false;
    std::map<ObjectKey, ResourceClaimPtr> claims_;
    std::deque<ObjectKey> with_text_; // newest last
    std::deque<ObjectKey> deleted_;   // newest last
    // By uid of the claim.
    std::map<DeviceId, std::map<std::string, Holder>> taken_;
    std::set<DeviceId> twice_;
    std::map<std::string, Held> held_; // by uid
    // Uids of the claims.
    std::map<DeviceId, std::set<std::string>> held_devices_;
    SweepMark holds_sweep_{64};
    // By driver and name of the pools with such devices.
    std::map<std::pair<std::string, std::string>, std::uint64_t> changes_;
    std::uint64_t last_change_ = 0;
};

} // namespace bridge
