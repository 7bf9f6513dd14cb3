// SPDX-License-Identifier: GPL-2.0-or-later
// All ResourceClaims of the cluster, as the watch tells of them, and which
// devices are taken: by whatever claim, ours or not, and by what we are about to
// write. Belongs to the owner thread.
#pragma once

#include "agent/device_inventory.h"
#include "agent/mailbox.h"
#include "agent/resource_claim.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class ClaimStore {
  public:
    // A complete list, which replaces all that was known.
    void replace(std::vector<ResourceClaim> claims);
    void put(ResourceClaim claim);
    void remove(const ObjectKey &key);
    bool listed() const { return listed_; }

    // Null when there is none.
    ResourceClaimPtr find(const ObjectKey &key) const;

    // The devices that a worker is about to put into the claim (its uid). They
    // are taken from now on, until the watch shows an allocation of that claim,
    // or its end, or for hold_time: by then it is known what became of the write.
    // Of one that is yet to be made: uid_until_made().
    void hold(const ObjectKey &claim, const std::string &uid,
              const std::vector<DeviceId> &devices, Clock::time_point now);
    static constexpr std::chrono::seconds hold_time{60};
    // Nothing was written to that claim.
    void release_hold(const std::string &uid) { held_.erase(uid); }

    // The claim, other than that of the uid, which has the device now, as
    // "ns/name"; nothing: none has.
    std::optional<std::string> holder_of(const DeviceId &device,
                                         const std::string &but_for_uid,
                                         Clock::time_point now) const;

    // The names of all devices of that pool that are taken.
    std::set<std::string> taken_in(const std::string &driver,
                                   const std::string &pool,
                                   Clock::time_point now) const;

    // Whose all taken devices are: ours, or those of claims that somebody else
    // has allocated.
    DeviceClaims owners() const;

    // Devices that more than one claim has, not all of them in shares, which
    // nobody may ever do.
    const std::set<DeviceId> &taken_twice() const { return twice_; }

  private:
    struct Holder {
        ObjectKey claim;
        bool ours = false;
        bool in_share = false;
    };
    struct Held {
        ObjectKey claim;
        std::map<DeviceId, Clock::time_point> until;
    };
    void take_over_hold(const ResourceClaim &claim);
    void index(const ResourceClaim &claim);
    void unindex(const ResourceClaim &claim);
    void note_twice(const DeviceId &device);

    bool listed_ = false;
    std::map<ObjectKey, ResourceClaimPtr> claims_;
    std::map<DeviceId, std::map<std::string, Holder>> taken_; // by uid
    std::set<DeviceId> twice_;
    std::map<std::string, Held> held_; // by uid
};

} // namespace bridge
