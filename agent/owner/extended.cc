// SPDX-License-Identifier: GPL-2.0-or-later
// Extended resources that DeviceClasses offer: the one claim of a Pod for them,
// which is made when Slurm has chosen its devices. From then on it is a claim
// as any other, but for its end: it goes when the Pod has no use for it.
#include "agent/owner/bridge.h"

#include "agent/decide/words.h"
#include "agent/gang/facts.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::chrono::minutes gate_pause{10}; // until a server may be a newer

} // namespace

// Why not is said in devices.
bool Bridge::may_use_extended(GangEntry &entry, GangDevices &devices)
{
    const Gang &gang = entry.gang;
    auto known = devices_.catalog();
    bool wants = std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return waits(gang, *pod) &&
               wants_extended_claim(*pod, known->classes, known->plugins);
    });
    if (!wants || ports_.access.may(Feature::extended_resources))
        return true;
    devices.why = no_extended_rights_words();
    wake_at(entry, now_ + access_pause);
    return false;
}

// Of a Pod of that gang.
ExtendedNeeds Bridge::extended_needs_of(GangEntry &entry, const Pod &pod)
{
    if (pod.extended.empty())
        return {};
    auto known = devices_.catalog();
    ExtendedNeeds needs =
        extended_needs(pod, known->classes,
                       claims_.find(extended_claim_key(pod)), known->plugins);
    const std::optional<Job> &job = entry.gang.job;
    bool has_node = pod.bound() || (job && is_allocated(job->state));
    if (now_ < extended_off_until_ && !has_node &&
        wants_extended_claim(pod, known->classes, known->plugins)) {
        needs.objection = no_extended_gate_words();
        wake_at(entry, extended_off_until_);
    }
    return needs;
}

// A claim that no status names would never be looked at by a kubelet, and be
// kept by kube-controller-manager when its Pod has ended.
void Bridge::note_extended_off()
{
    log_warning("extended resources are off",
                {{"err", no_extended_gate_words()}});
    extended_off_until_ = now_ + gate_pause;
    for (const auto &[uid, entry] : gangs_.all())
        if (std::ranges::any_of(entry.gang.pods, [](const PodPtr &pod) {
                return !pod->extended.empty();
            }))
            wake(uid);
}

// Why that Node (Kubernetes' name) is none for the Pods' extended resources;
// empty: it is one.
std::string Bridge::why_by_plugin(const DeviceNeeds &needs,
                                  const std::string &node) const
{
    const Node *there = find_node(node);
    bool has_slurmd = hybrid_.contains(slurm_node_of(node));
    for (const ExtendedNeeds &one : needs.extended)
        if (std::string why = there
                                  ? why_no_device_there(one, *there, has_slurmd)
                                  : std::string();
            !why.empty())
            return why;
    return {};
}

// Of a gang that has no Node to go to: a sentence more, where it would have one
// if that had no slurmd.
std::string Bridge::plugins_elsewhere(const Gang &gang) const
{
    const Predicate &asks = value_of(gang.predicate);
    if (!asks_for_plugins(asks))
        return {};
    for (const std::string &name : hybrid_) {
        auto known = node_map_.find(name);
        const Node *node =
            known == node_map_.end() ? nullptr : find_node(known->second);
        if (node && matches(asks, *node))
            return plugin_beside_slurmd_words(node->name);
    }
    return {};
}

// Of a Pod without a node: made for a job that is no more.
std::optional<ClaimHold> Bridge::extended_hold(const Pod &pod) const
{
    if (pod.extended.empty())
        return std::nullopt;
    auto claim = claims_.find(extended_claim_key(pod));
    if (!claim || !is_extended_claim(*claim, pod))
        return std::nullopt;
    if (claim->deleting && !claim->is_reserved_for(pod.uid))
        return std::nullopt; // others have it still
    return ClaimHold{claim->key, claim->uid, pod.uid, true};
}

} // namespace bridge
