// SPDX-License-Identifier: GPL-2.0-or-later
// Which gangs have Pods that need a ResourceClaim, and so are decided again
// when it changes. Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "common/base/sweep_mark.h"

#include <map>
#include <set>
#include <string>

namespace bridge {

class ClaimUsers {
  public:
    explicit ClaimUsers(GangStore &gangs) : gangs_(gangs) {}

    // The Pod of this gang needs its claims, also one that the agent makes.
    void add(const Gang &gang, const Pod &pod);

    // The gangs (uids) that need the claim; some may be gone.
    const std::set<std::string> &of(const ObjectKey &claim) const;

    // The claim has changed: returns the gangs that are there still. When it is
    // gone, whoever still names it is to be added again.
    std::set<std::string> changed(const ObjectKey &claim, bool gone);

  private:
    void sweep();
    void drop_gone(std::set<std::string> &uids);

    GangStore &gangs_;
    std::map<ObjectKey, std::set<std::string>> users_; // gang uids
    SweepMark swept_{1000};
};

} // namespace bridge
