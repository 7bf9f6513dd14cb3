// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act_gang.h"

#include "agent/gang_key.h"
#include "agent/translate.h"

#include <algorithm>

namespace bridge {

Result<> bind_seats(const Gang &gang, const Bind &bind, Kube &kube)
{
    for (const Seat &seat : bind.seats) {
        auto pod = std::ranges::find_if(
            gang.pods, [&](const PodPtr &p) { return p->uid == seat.pod; });
        if (pod == gang.pods.end())
            continue;
        Binding binding{seat.node, binding_labels(*gang.job),
                        binding_annotations(*gang.job, seat)};
        if (auto bound = kube.bind(**pod, binding); !bound)
            return bound;
    }
    return {};
}

Result<std::optional<Pod>> find_member(const Gang &gang, Kube &kube)
{
    auto pods = kube.list_pods(gang.key.ns);
    if (!pods)
        return std::unexpected(pods.error());
    auto member = std::ranges::find_if(*pods, [&](const Pod &pod) {
        return pod.gang && pod.gang->uid == gang.uid;
    });
    if (member == pods->end())
        return std::nullopt;
    return std::move(*member);
}

} // namespace bridge
