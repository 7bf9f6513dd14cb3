// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/volumes.h"

#include "agent/gang/facts.h"

#include <algorithm>
#include <iterator>

namespace bridge {

namespace {

// Returns the Pod's claims that no earlier Pod has.
std::vector<ClaimRef> add_new_claims(const Pod &pod,
                                     std::set<std::string> &known)
{
    std::vector<ClaimRef> fresh;
    for (const ClaimRef &claim : pod.claims)
        if (known.insert(claim.name).second)
            fresh.push_back(claim);
    return fresh;
}

} // namespace

bool any_claims(const Gang &gang)
{
    return std::ranges::any_of(
        gang.pods, [](const PodPtr &pod) { return !pod->claims.empty(); });
}

bool has_claims(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return !pod->claims.empty() && waits(gang, *pod);
    });
}

std::set<std::string> claim_names(const Gang &gang)
{
    std::set<std::string> names;
    for (const PodPtr &pod : gang.pods)
        if (waits(gang, *pod))
            (void)add_new_claims(*pod, names);
    return names;
}

Pod with_all_claims(const Gang &gang)
{
    Pod one = lead_of(gang);
    one.claims.clear();
    std::set<std::string> known;
    for (const PodPtr &pod : gang.pods)
        if (waits(gang, *pod))
            std::ranges::copy(add_new_claims(*pod, known),
                              std::back_inserter(one.claims));
    return one;
}

VolumeNeeds volume_needs(const Gang &gang, const VolumeFacts &facts)
{
    VolumeNeeds all;
    std::set<std::string> known;
    for (const PodPtr &pod : gang.pods) {
        if (!waits(gang, *pod))
            continue;
        VolumeNeeds of_pod =
            volume_needs(add_new_claims(*pod, known), pod->uid, facts);
        if (!of_pod.reason.empty())
            return of_pod;
        all.unbound |= of_pod.unbound;
        for (NodeSelector &selector : of_pod.selectors)
            if (!std::ranges::contains(all.selectors, selector))
                all.selectors.push_back(std::move(selector));
    }
    return all;
}

Result<std::vector<SeatClaim>>
claim_steps(const Gang &gang, const std::vector<Seat> &seats,
            const VolumeFacts &facts,
            const std::map<std::string, NodePtr> &nodes)
{
    std::vector<SeatClaim> all;
    std::set<std::string> known;
    const PodsByUid pods = pods_by_uid(gang);
    for (const Seat &seat : seats) {
        PodPtr pod = find_pod(pods, seat.pod);
        if (!pod)
            continue;
        auto node = nodes.find(seat.node);
        if (node == nodes.end())
            return fail(Code::conflict, "the Node " + seat.node + " is gone");
        auto steps =
            claim_steps(add_new_claims(*pod, known), facts, *node->second);
        if (!steps)
            return std::unexpected(steps.error());
        for (ClaimStep &step : *steps)
            all.push_back({std::move(step), node->second});
    }
    return all;
}

} // namespace bridge
