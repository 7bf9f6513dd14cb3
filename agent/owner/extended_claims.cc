// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/extended_claims.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"

#include <algorithm>

namespace bridge {

namespace {

// when to check for a newer server
constexpr std::chrono::minutes gate_pause{10};

} // namespace

bool ExtendedClaims::may_use(GangEntry &entry, GangDevices &devices)
{
    const Gang &gang = entry.gang;
    auto known = devices_.catalog();
    bool wants = std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return waits(gang, *pod) &&
               wants_extended_claim(*pod, known->classes, known->plugins);
    });
    if (!wants || context_.ports.access.may(Feature::extended_resources))
        return true;
    devices.reason = no_extended_rights_message();
    agenda_.wake_at(entry, context_.now + access_pause);
    return false;
}

ExtendedNeeds ExtendedClaims::needs_of(GangEntry &entry, const Pod &pod)
{
    if (pod.extended.empty())
        return {};
    auto known = devices_.catalog();
    ExtendedNeeds needs = extended_needs(
        pod, known->classes, devices_.claims().find(extended_claim_key(pod)),
        known->plugins);
    bool has_node = pod.bound() || is_placed(entry.gang);
    if (context_.now < off_until_ && !has_node &&
        wants_extended_claim(pod, known->classes, known->plugins)) {
        needs.unfit_reason = no_extended_gate_message();
        agenda_.wake_at(entry, off_until_);
    }
    return needs;
}

// A claim that no Pod status names would be ignored by kubelets, and
// kube-controller-manager would keep it after its Pod has ended.
void ExtendedClaims::turn_off()
{
    log_warning("extended resources are off",
                {{"err", no_extended_gate_message()}});
    off_until_ = context_.now + gate_pause;
    for (const auto &[uid, entry] : gangs_.all())
        if (std::ranges::any_of(entry.gang.pods, [](const PodPtr &pod) {
                return !pod->extended.empty();
            }))
            agenda_.wake(uid);
}

std::string ExtendedClaims::unfit_node_reason(const DeviceNeeds &needs,
                                              const std::string &node) const
{
    const Node *there = nodes_.find(node);
    bool has_slurmd = nodes_.hybrid().contains(nodes_.slurm_name_of(node));
    for (const ExtendedNeeds &one : needs.extended)
        if (std::string reason = there
                                     ? no_device_reason(one, *there, has_slurmd)
                                     : std::string();
            !reason.empty())
            return reason;
    return {};
}

std::string ExtendedClaims::plugins_elsewhere(const Gang &gang) const
{
    const Predicate &asks = value_of(gang.placement.predicate);
    if (!asks_for_plugins(asks))
        return {};
    for (const std::string &name : nodes_.hybrid()) {
        const Node *node = nodes_.behind(name);
        if (node && matches(asks, *node))
            return plugin_beside_slurmd_message(node->name);
    }
    return {};
}

std::optional<ClaimHold> ExtendedClaims::left_of(const Pod &pod) const
{
    if (pod.extended.empty())
        return std::nullopt;
    auto claim = devices_.claims().find(extended_claim_key(pod));
    if (!claim || !is_extended_claim(*claim, pod))
        return std::nullopt;
    if (claim->deleting && !claim->is_reserved_for(pod.uid))
        return std::nullopt; // others still use it
    return ClaimHold{claim->key, claim->uid, pod.uid, true};
}

} // namespace bridge
