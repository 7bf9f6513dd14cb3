// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act_gang.h"

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

} // namespace

Result<> bind_seats(const Gang &gang, const Bind &bind, Kube &kube)
{
    Result<> said;
    for (const Seat &seat : bind.seats) {
        PodPtr pod = find_pod(gang, seat.pod);
        if (!pod)
            continue;
        Binding binding{seat.node, binding_labels(*gang.job),
                        binding_annotations(*gang.job, seat)};
        auto bound = kube.bind(*pod, binding);
        if (said && !bound)
            said = bound;
        if (!bound && concerns_all(bound.error()))
            break;
    }
    return said;
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
