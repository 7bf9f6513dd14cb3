// SPDX-License-Identifier: GPL-2.0-or-later
// All ResourceClaims of the cluster, as the watch tells of them, and which
// devices are taken: by whatever claim, ours or not, and by what we are about
// to write. Belongs to the owner thread.
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

    // The devices that a worker is about to put into the claim (its uid), for
    // that gang (uid). They are taken from now on, until the watch shows an
    // allocation of that claim, or its end: else until hold_time has passed
    // since end_write(). By then it is known what became of the write; before
    // that the API server may take as long as it likes. Of one that is yet to
    // be made: uid_until_made(). shares: what it will consume of those of which
    // it gets a share only.
    void hold(const ObjectKey &claim, const std::string &uid,
              const std::string &gang, const std::vector<DeviceId> &devices,
              Clock::time_point now,
              const std::map<DeviceId, Capacities> &shares = {});
    // The gang's worker is back, whatever it says of the claim.
    void end_write(const ObjectKey &claim, const std::string &gang,
                   Clock::time_point now);
    static constexpr std::chrono::seconds hold_time{60};
    // Of so many claims, the newest, the text is kept: of those that soon get
    // devices, rather than of all that wait.
    static constexpr std::size_t max_texts = 1000;
    // Nothing was written to that claim; kept while another gang's worker may.
    void release_hold(const std::string &uid);
    // Whether devices are held for the claim (its uid): the watch may be yet to
    // tell of its allocation.
    bool holds_for(const std::string &uid, Clock::time_point now) const;

    // The claim, other than that of the uid, which has the device now, as
    // "ns/name"; nothing: none has.
    std::optional<std::string> holder_of(const DeviceId &device,
                                         const std::string &but_for_uid,
                                         Clock::time_point now) const;

    // The names of all devices of that pool that are taken.
    std::set<std::string> taken_in(const std::string &driver,
                                   const std::string &pool,
                                   Clock::time_point now) const;

    // What the shares of the device consume by now, but for those of these
    // claims (uids), and what is held for such. Nothing: a claim has all of it.
    std::optional<Capacities>
    consumed_of(const DeviceId &device,
                const std::set<std::string> &but_for_uids,
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
        Capacities consumed; // by its shares
    };
    struct Held {
        ObjectKey claim;
        std::set<std::string> writers; // gangs whose workers are not back
        std::map<DeviceId, Clock::time_point> until; // once they are
        std::map<DeviceId, Capacities> shares;

        bool has(const DeviceId &device, Clock::time_point now) const;
    };
    void take_over_hold(const ResourceClaim &claim);
    void erase_hold(const std::string &uid);
    void unindex_hold(const DeviceId &device, const std::string &uid);
    void forget_expired(const std::string &uid, Held &held,
                        Clock::time_point now);
    void sweep_holds(Clock::time_point now);
    const std::set<std::string> &holders_of(const DeviceId &device) const;
    void keep_text(const ResourceClaim &claim);
    void index(const ResourceClaim &claim);
    void unindex(const ResourceClaim &claim);
    void note_twice(const DeviceId &device);

    bool listed_ = false;
    std::map<ObjectKey, ResourceClaimPtr> claims_;
    std::deque<ObjectKey> with_text_;                         // the newest last
    std::map<DeviceId, std::map<std::string, Holder>> taken_; // by uid
    std::set<DeviceId> twice_;
    std::map<std::string, Held> held_;                       // by uid
    std::map<DeviceId, std::set<std::string>> held_devices_; // their uids
    SweepMark holds_sweep_{64};
};

} // namespace bridge
