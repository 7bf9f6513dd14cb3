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
// Of a gang that may share a claim, as steps.
constexpr std::size_t cost_of_user = 5;
// Of a predicate that is compared with a Node.
constexpr std::size_t bytes_per_step = 60;

bool has_live_job(const Gang &gang)
{
    return gang.job && !is_ended(gang.job->state);
}

} // namespace

DeviceNeeds ClaimNeeds::of(GangEntry &entry, const Pod &pod,
                           const Predicate &where)
{
    ClaimFacts facts = facts_of(entry.gang, where);
    facts.extended = to_.extended.needs_of(entry, pod);
    DeviceNeeds needs = device_needs(pod, facts);
    cost_ += needs.cost;
    if (!needs.unanswered)
        cost_of_kept_ += needs.cost_of_kept;
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

// Pods change for many reasons, and their claims seldom. What is kept is no
// more than a part of the claims that there are. A claim that is still to be
// made has no version.
ClaimAnswer ClaimNeeds::remembered(const Gang &gang,
                                   const ResourceClaimPtr &claim,
                                   const Predicate &where,
                                   const std::function<ClaimAnswer()> &read)
{
    if (auto catalog = to_.devices.catalog(); kept_for_ != catalog) {
        kept_.clear();
        kept_for_ = std::move(catalog);
    }
    bool admin = may_admin(gang.key.ns);
    if (auto known = kept_.find(claim->uid);
        known != kept_.end() && still_holds(known->second, claim, where, admin))
        return known->second.answer;
    ClaimAnswer answer = read();
    if (answer.unanswered || claim->resource_version.empty())
        return answer;
    kept_.insert_or_assign(claim->uid,
                           Kept{claim, where, to_.nodes.version(),
                                to_.answers.version(), admin, answer});
    sweep();
    return answer;
}

bool ClaimNeeds::still_holds(const Kept &kept, const ResourceClaimPtr &claim,
                             const Predicate &where, bool admin) const
{
    return kept.claim.lock() == claim && kept.nodes == to_.nodes.version() &&
           kept.answers == to_.answers.version() && kept.admin == admin &&
           kept.where == where;
}

void ClaimNeeds::sweep()
{
    if (!swept_.is_due(kept_.size()))
        return;
    std::erase_if(kept_,
                  [](const auto &one) { return one.second.claim.expired(); });
    swept_.swept(kept_.size());
}

ClaimFacts ClaimNeeds::facts_of(const Gang &gang, const Predicate &where)
{
    const ClaimStore &claims = to_.devices.claims();
    return {
        .find_claim =
            [&claims](const ObjectKey &key) { return claims.find(key); },
        .gres_for =
            [this, &gang](const DeviceRequest &request, ReadBudget &budget) {
                return to_.answers.gres_for(gang, request, budget);
            },
        .most_on_a_node =
            [this, &gang, &where](const DeviceRequest &request,
                                  ReadBudget &budget) {
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
            [this, &gang](const DeviceRequest &request, ReadBudget &budget) {
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
                                                ReadBudget &budget)
{
    auto counts = to_.answers.counts_for(gang, request, budget);
    if (!counts)
        return std::unexpected(counts.error());
    return most_fitting(
        **counts, request,
        [&](const std::string &name) {
            const Node *node =
                to_.nodes.is_slurms(name) ? to_.nodes.find(name) : nullptr;
            budget.spend(wanted.text().size() / bytes_per_step);
            return node && matches(wanted, *node);
        },
        budget);
}

Result<std::int64_t> ClaimNeeds::most_on_any_node(const Gang &gang,
                                                  const DeviceRequest &request,
                                                  ReadBudget &budget)
{
    auto counts = to_.answers.counts_for(gang, request, budget);
    if (!counts)
        return std::unexpected(counts.error());
    return most_fitting(
        **counts, request,
        [this](const std::string &name) { return to_.nodes.is_slurms(name); },
        budget);
}

namespace {

// Whether a job that counts no GRES may be for CPU devices: what its claims
// need may not be known yet.
bool may_ask_cpus(const Gang &gang)
{
    return !gang.devices || gang.devices->unanswered ||
           gang.devices->on_cpu_nodes;
}

} // namespace

bool ClaimNeeds::asks_for(const std::string &uid, const Gang &follower,
                          bool is_written) const
{
    const GangEntry *other =
        uid == follower.uid ? nullptr : to_.gangs.find(uid);
    if (!other)
        return false;
    if (!any_waits(other->gang))
        return is_written;
    const std::optional<Job> &job = other->gang.job;
    bool asks = job && !is_ended(job->state) &&
                (!job->gres_per_task.empty() || may_ask_cpus(other->gang));
    bool is_first = asks && has_live_job(follower) &&
                    follower.job->ref.sluid < job->ref.sluid;
    return (asks && !is_first) || other->gang.submit_uncertain ||
           other->in_flight == Action(Submit{}).index();
}

// If several Pods share a claim, one job gets its devices. The other Pods
// follow once the watch has shown which devices these are. Those that name the
// claim may not have been read since the start.
bool ClaimNeeds::asked_by_others(const Gang &gang, const ResourceClaim &claim)
{
    bool is_written =
        !has_live_job(gang) && // the hold is its own
        to_.devices.claims().holds_for(claim.uid, to_.context.now);
    auto asks = [&](const std::string &uid) {
        return asks_for(uid, gang, is_written);
    };
    const auto &read = to_.devices.users_of(claim.key);
    const auto named = to_.gangs.users_of(claim.key);
    count((read.size() + named.size()) * cost_of_user);
    return std::ranges::any_of(read, asks) || std::ranges::any_of(named, asks);
}

} // namespace bridge
