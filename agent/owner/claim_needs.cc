// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/claim_needs.h"

#include "agent/gang/action.h"
#include "agent/gang/facts.h"
#include "agent/gres/claim_cpus.h"
#include "agent/gres/claim_sharing.h"
#include "agent/gres/fit_counts.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char admin_label[] = "resource.kubernetes.io/admin-access";

} // namespace

DeviceNeeds ClaimNeeds::of(GangEntry &entry, const Pod &pod,
                           const Predicate &where)
{
    ClaimFacts facts = facts_of(entry.gang, where);
    facts.extended = to_.extended.needs_of(entry, pod);
    DeviceNeeds needs = device_needs(pod, facts);
    cost_ += needs.cost;
    if (needs.reason.empty())
        needs.reason = used_by_others_reason(entry.gang, pod, needs);
    return needs;
}

std::string ClaimNeeds::used_by_others_reason(const Gang &gang, const Pod &pod,
                                              const DeviceNeeds &needs)
{
    auto catalog = to_.devices.catalog();
    return claims_in_use_reason(
        pod, needs,
        {*catalog, to_.nodes.hybrid(), [&](const ResourceClaim &claim) {
             return to_.shared.counting(gang, claim.key);
         }});
}

std::string ClaimNeeds::not_together_reason(const Gang &gang,
                                            const std::vector<PodPtr> &pods,
                                            const Predicate &where)
{
    return bridge::not_together_reason(pods, facts_of(gang, where),
                                       *to_.devices.catalog(),
                                       to_.nodes.hybrid());
}

std::vector<ClaimHold> ClaimNeeds::held_for(const Pod &pod) const
{
    std::vector<ClaimHold> made;
    for (const PodClaim &one : pod.resource_claims)
        if (auto claim = to_.devices.claims().find({pod.key.ns, one.claim});
            claim && claim->is_reserved_for(pod.uid))
            made.push_back({claim->key, claim->uid, pod.uid});
    if (auto hold = to_.extended.left_of(pod))
        made.push_back(std::move(*hold));
    return made;
}

bool ClaimNeeds::may_admin(const std::string &ns) const
{
    auto found = to_.namespaces.find(ns);
    return found != to_.namespaces.end() &&
           found->second.labels.contains(admin_label) &&
           found->second.labels.at(admin_label) == "true";
}

// Pods change for many reasons, and their claims seldom. A claim that is still
// to be made has no version.
ClaimAnswer ClaimNeeds::remembered(const Gang &gang,
                                   const ResourceClaimPtr &claim,
                                   const Predicate &where,
                                   const std::function<ClaimAnswer()> &read)
{
    bool of_now = kept_for_ == to_.devices.catalog();
    if (!of_now || kept_.size() >= most_kept)
        kept_.clear();
    kept_for_ = to_.devices.catalog();
    bool admin = may_admin(gang.key.ns);
    auto known = kept_.find(claim->uid);
    if (known != kept_.end() && known->second.claim == claim &&
        known->second.where == where &&
        known->second.nodes == to_.nodes.version() &&
        known->second.admin == admin)
        return known->second.answer;
    ClaimAnswer answer = read();
    bool keeps = !answer.unanswered && !claim->resource_version.empty();
    if (keeps)
        kept_.insert_or_assign(
            claim->uid, Kept{claim, where, to_.nodes.version(), admin, answer});
    return answer;
}

ClaimFacts ClaimNeeds::facts_of(const Gang &gang, const Predicate &where)
{
    const ClaimStore &claims = to_.devices.claims();
    return {
        .find_claim =
            [&claims](const ObjectKey &key) { return claims.find(key); },
        .gres_for =
            [this, &gang](const DeviceRequest &request, CelBudget &budget) {
                return to_.answers.gres_for(gang, request, budget);
            },
        .most_on_a_node =
            [this, &gang, &where](const DeviceRequest &request,
                                  CelBudget &budget) {
                return most_on_a_node(gang, where, request, budget);
            },
        .asked_by_others =
            [this, &gang](const ResourceClaim &claim) {
                return asked_by_others(gang, claim);
            },
        .admin_access = may_admin(gang.key.ns),
        .extended = {},
        .was_deleted =
            [&claims](const ObjectKey &key) { return claims.was_deleted(key); },
        .most_on_any_node =
            [this, &gang](const DeviceRequest &request, CelBudget &budget) {
                return most_on_any_node(gang, request, budget);
            },
        .remembered =
            [this, &gang, &where](const ResourceClaimPtr &claim,
                                  const std::function<ClaimAnswer()> &read) {
                return remembered(gang, claim, where, read);
            },
    };
}

Result<std::int64_t> ClaimNeeds::most_on_a_node(const Gang &gang,
                                                const Predicate &wanted,
                                                const DeviceRequest &request,
                                                CelBudget &budget)
{
    auto counts = to_.answers.counts_for(gang, request, budget);
    if (!counts)
        return std::unexpected(counts.error());
    return most_fitting(
        **counts, *to_.devices.catalog(), request,
        [&](const std::string &name) {
            const Node *node =
                to_.nodes.is_slurms(name) ? to_.nodes.find(name) : nullptr;
            return node && matches(wanted, *node);
        },
        budget);
}

Result<std::int64_t> ClaimNeeds::most_on_any_node(const Gang &gang,
                                                  const DeviceRequest &request,
                                                  CelBudget &budget)
{
    auto counts = to_.answers.counts_for(gang, request, budget);
    if (!counts)
        return std::unexpected(counts.error());
    return most_fitting(
        **counts, *to_.devices.catalog(), request,
        [this](const std::string &name) { return to_.nodes.is_slurms(name); },
        budget);
}

// If several Pods share a claim, one job gets its devices. The other Pods
// follow once the watch has shown which devices these are.
bool ClaimNeeds::asked_by_others(const Gang &gang, const ResourceClaim &claim)
{
    bool asks_too =
        gang.job && !is_ended(gang.job->state); // the hold is its own
    bool is_written =
        !asks_too && to_.devices.claims().holds_for(claim.uid, to_.context.now);
    return std::ranges::any_of(
        to_.devices.users_of(claim.key), [&](const std::string &uid) {
            const GangEntry *other =
                uid == gang.uid ? nullptr : to_.gangs.find(uid);
            if (!other)
                return false;
            if (!any_waits(other->gang))
                return is_written;
            const std::optional<Job> &job = other->gang.job;
            bool cpus =
                other->gang.devices && other->gang.devices->on_cpu_nodes;
            bool asks = job && !is_ended(job->state) &&
                        (!job->gres_per_task.empty() || cpus);
            bool is_first =
                asks_too && asks && gang.job->ref.sluid < job->ref.sluid;
            return (asks && !is_first) || other->gang.submit_uncertain ||
                   other->in_flight == Action(Submit{}).index();
        });
}

} // namespace bridge
