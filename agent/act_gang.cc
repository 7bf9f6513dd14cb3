// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act_gang.h"

#include "agent/act_claims.h"
#include "agent/gang_facts.h"
#include "agent/gang_key.h"
#include "agent/translate.h"

#include <algorithm>

namespace bridge {

namespace {

bool concerns_all(const Error &error)
{
    return error.code == Code::busy || error.code == Code::uncertain;
}

// The first error.
template <class Step>
Result<> for_each_seat(const Gang &gang, const Bind &bind, const Step &step)
{
    Result<> said;
    for (const Seat &seat : bind.seats) {
        PodPtr pod = find_pod(gang, seat.pod);
        if (!pod)
            continue;
        Result<> done = step(*pod, seat);
        if (said && !done)
            said = done;
        if (!done && concerns_all(done.error()))
            break;
    }
    return said;
}

Result<> reserve(const Pod &pod, const Bind &bind, const Seat &seat, Kube &kube)
{
    std::vector<ClaimPlan> claims = bind.claims;
    std::erase_if(claims, [&](const ClaimPlan &claim) {
        return claim.pod != pod.uid;
    });
    return reserve_claims(pod, claims, seat.node, kube);
}

} // namespace

Result<Outcome> reserve_seats(const Gang &gang, const Bind &bind, Kube &kube)
{
    std::string node; // of the first that went wrong
    auto said = for_each_seat(gang, bind, [&](const Pod &pod, const Seat &seat) {
        auto reserved = reserve(pod, bind, seat, kube);
        if (!reserved && node.empty())
            node = seat.node;
        return reserved;
    });
    if (said)
        return Done{};
    if (said.error().code == Code::rejected)
        return ClaimsRefused{said.error().message, node};
    return std::unexpected(said.error());
}

Result<> bind_seats(const Gang &gang, const Bind &bind, Kube &kube)
{
    return for_each_seat(gang, bind, [&](const Pod &pod, const Seat &seat) {
        if (auto reserved = reserve(pod, bind, seat, kube); !reserved)
            return reserved;
        return kube.bind(pod, {seat.node, binding_labels(*gang.job),
                               binding_annotations(*gang.job, seat)});
    });
}

Result<std::optional<Pod>> find_member(const Gang &gang, Kube &kube)
{
    auto pods = kube.list_pods(gang.key.ns);
    if (!pods)
        return std::unexpected(pods.error());
    auto is_known = [&](const Pod &pod) {
        return std::ranges::any_of(gang.pods, [&](const PodPtr &known) {
            return known->uid == pod.uid;
        });
    };
    auto member = std::ranges::find_if(*pods, [&](const Pod &pod) {
        return names_gang(pod, gang.uid) && !pod.terminal() &&
               !is_known(pod) &&
               (binder_of(pod) == gang.job->ref ||
                pod.uid == gang.job->tag.first);
    });
    if (member == pods->end())
        return std::nullopt;
    return std::move(*member);
}

} // namespace bridge
