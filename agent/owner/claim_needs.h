// SPDX-License-Identifier: GPL-2.0-or-later
// What the devices of a Pod require of its job now: what its claims and
// extended resources ask for, and why it has to wait because of other Pods. It
// remembers what claims came to until something of that changes, and nothing
// else. Owner thread only.
#pragma once

#include "agent/gres/cel_limits.h"
#include "agent/gres/gang_devices.h"
#include "agent/gres/needs.h"
#include "agent/owner/device_answers.h"
#include "agent/owner/extended_claims.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/shared_claims.h"
#include "common/base/sweep_mark.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

class ClaimNeeds {
  public:
    struct Parts {
        const Context &context;
        GangStore &gangs;
        const KnownNodes &nodes;
        const std::map<std::string, Namespace> &namespaces;
        KnownDevices &devices;
        SharedClaims &shared;
        ExtendedClaims &extended;
        DeviceAnswers &answers;
    };
    explicit ClaimNeeds(const Parts &parts) : to_(parts) {}

    // A turn of the owner thread begins. Whether it has read so much that
    // gangs with claims should wait for the next one. The same of what is
    // remembered from now on: whoever has read that much goes on in the next
    // turn.
    void begin_turn() { cost_ = cost_of_kept_ = 0; }
    bool did_enough() const { return cost_ >= cel_limits::of_turn; }
    bool kept_enough() const { return cost_of_kept_ >= cel_limits::of_turn; }
    // What else this turn has done with claims, in the same steps.
    void count(std::size_t cost) { cost_ += cost; }

    // What a Pod of that gang needs, also because of other Pods. where: the
    // Nodes that the gang may run on, as far as that is known.
    DeviceNeeds of(GangEntry &entry, const Pod &pod, const Predicate &where);
    // Why the Pod has to wait because others use its claims, or "".
    std::string used_by_others_reason(const Gang &gang, const Pod &pod,
                                      const DeviceNeeds &needs);
    // Why these Pods of the gang cannot run at the same time, or "".
    std::string not_together_reason(const Gang &gang,
                                    const std::vector<PodPtr> &pods,
                                    const Predicate &where);
    // Returns the claims that are reserved for the Pod, usable or not.
    std::vector<ClaimHold> held_for(const Pod &pod) const;

  private:
    // An answer, and what it follows from. It has pointers into the claim.
    struct Kept {
        std::weak_ptr<const ResourceClaim> claim;
        Predicate where;
        std::uint64_t nodes = 0;   // KnownNodes::version()
        std::uint64_t answers = 0; // DeviceAnswers::version()
        bool admin = false;
        ClaimAnswer answer;
    };

    ClaimAnswer remembered(const Gang &gang, const ResourceClaimPtr &claim,
                           const Predicate &where,
                           const std::function<ClaimAnswer()> &read);
    bool still_holds(const Kept &kept, const ResourceClaimPtr &claim,
                     const Predicate &where, bool admin) const;
    void sweep();
    ClaimFacts facts_of(const Gang &gang, const Predicate &where);
    Result<std::int64_t> most_on_a_node(const Gang &gang,
                                        const Predicate &wanted,
                                        const DeviceRequest &request,
                                        ReadBudget &budget);
    Result<std::int64_t> most_on_any_node(const Gang &gang,
                                          const DeviceRequest &request,
                                          ReadBudget &budget);
    bool may_admin(const std::string &ns) const;
    bool asked_by_others(const Gang &gang, const ResourceClaim &claim);
    bool asks_for(const std::string &uid, const Gang &follower,
                  bool is_written) const;

    const Parts to_;
    std::map<std::string, Kept> kept_; // by uid of the claim
    std::shared_ptr<const DeviceCatalog> kept_for_;
    SweepMark swept_{1000};
    // Of this turn, and of what it has remembered.
    std::size_t cost_ = 0;
    std::size_t cost_of_kept_ = 0;
};

} // namespace bridge
