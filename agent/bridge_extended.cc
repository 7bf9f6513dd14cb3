// SPDX-License-Identifier: GPL-2.0-or-later
// Extended resources that DeviceClasses offer: the one claim of a Pod for them,
// which is made when Slurm has chosen its devices. From then on it is a claim as
// any other, but for its end: it goes when the Pod has no use for it.
#include "agent/bridge.h"

#include "agent/gang_facts.h"
#include "agent/words.h"
#include "common/log.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::chrono::seconds access_pause{30}; // until rights are looked for
constexpr std::chrono::minutes gate_pause{10};   // until a server may be a newer

} // namespace

// Why not is said in devices.
bool Bridge::may_use_extended(GangEntry &entry, GangDevices &devices)
{
    const Gang &gang = entry.gang;
    bool wants = std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return !pod->extended.empty() && waits(gang, *pod);
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
    ExtendedNeeds needs =
        extended_needs(pod, devices_.catalog()->classes,
                       claims_.find(extended_claim_key(pod)));
    const std::optional<Job> &job = entry.gang.job;
    bool has_node = pod.bound() || (job && is_allocated(job->state));
    if (now_ < extended_off_until_ && !has_node) {
        needs.objection = no_extended_gate_words();
        wake_at(entry, extended_off_until_);
    }
    return needs;
}

// A claim that no status names would never be looked at by a kubelet, and be kept
// by kube-controller-manager when its Pod has ended.
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

// Why the kubelet of that Node (Kubernetes' name) would not look into a claim for
// the Pod's extended resources; empty: it would.
std::string Bridge::why_by_plugin(const Pod &pod, const std::string &node) const
{
    const Node *there = find_node(node);
    std::string offered = there ? offered_by_plugin(pod, *there) : std::string();
    return offered.empty() ? std::string()
                           : "its Node offers " + offered + " by a device plugin";
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
