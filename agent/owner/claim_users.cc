// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/claim_users.h"

#include "agent/gres/device_ask.h"
#include "agent/gres/extended_claim.h"

namespace bridge {

void ClaimUsers::add(const Gang &gang, const Pod &pod)
{
    sweep();
    for (const PodClaim &one : pod.resource_claims)
        if (!one.claim.empty())
            users_[{pod.key.ns, one.claim}].insert(gang.uid);
    if (!pod.extended.empty())
        users_[extended_claim_key(pod)].insert(gang.uid);
}

const std::set<std::string> &ClaimUsers::of(const ObjectKey &claim) const
{
    static const std::set<std::string> nobody;
    auto users = users_.find(claim);
    return users == users_.end() ? nobody : users->second;
}

std::set<std::string> ClaimUsers::changed(const ObjectKey &claim, bool gone)
{
    auto users = users_.find(claim);
    if (users == users_.end())
        return {};
    drop_gone(users->second);
    std::set<std::string> there = users->second;
    if (there.empty() || gone)
        users_.erase(users);
    return there;
}

// An entry for a claim that does not exist stays while somebody waits for it.
void ClaimUsers::sweep()
{
    if (!swept_.is_due(users_.size()))
        return;
    for (auto &[claim, uids] : users_)
        drop_gone(uids);
    std::erase_if(users_,
                  [](const auto &users) { return users.second.empty(); });
    swept_.swept(users_.size());
}

void ClaimUsers::drop_gone(std::set<std::string> &uids)
{
    std::erase_if(uids,
                  [&](const std::string &uid) { return !gangs_.find(uid); });
}

} // namespace bridge
