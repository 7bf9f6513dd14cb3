// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims: what each Pod's claims need, and who is woken when that
// changes.
#include "agent/owner/bridge.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gres/claim_cpus.h"
#include "agent/gres/claim_sharing.h"
#include "agent/gres/device_ask.h"
#include "agent/gres/fit_counts.h"
#include "agent/owner/pauses.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

// until a template's claim is made
constexpr std::chrono::seconds claim_patience{3};
constexpr char admin_label[] = "resource.kubernetes.io/admin-access";
constexpr char twice_problem[] = "devices";

bool awaits_template(const Pod &pod, const ClaimStore &claims)
{
    return std::ranges::any_of(pod.resource_claims, [&](const PodClaim &one) {
        return !one.from_template.empty() && !one.not_needed &&
               (one.claim.empty() || !claims.find({pod.key.ns, one.claim}));
    });
}

// Compares with the API server's clock. A clock that is wrong must not make a
// Pod young for ever.
bool is_young(const Pod &pod, std::chrono::system_clock::time_point now)
{
    auto age = now - pod.created;
    return age >= -claim_patience && age < claim_patience;
}

// Each such Pod waits like this at first, which needs no message.
bool awaits_templates(const Gang &gang, const ClaimStore &claims,
                      std::chrono::system_clock::time_point now)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return waits(gang, *pod) && is_young(*pod, now) &&
               awaits_template(*pod, claims);
    });
}

std::string no_gres_message(const Gang &gang)
{
    for (const PodPtr &pod : gang.pods)
        if (pod->resource_claims.empty() && !pod->extended.empty())
            return no_extended_gres_message(*pod);
    return no_device_gres_message();
}

bool has_nodes(const Gang &gang)
{
    return gang.job && is_allocated(gang.job->state) &&
           !gang.job->nodes.empty();
}

} // namespace

void Bridge::on(Listed<ResourceClaim> &claims)
{
    claims_.replace(std::move(claims.objects));
    claims_changed();
    shared_claims_.claims_listed();
    sync_.change_soon();
    attempts_.all_again();
}

void Bridge::on(Changed<ResourceClaim> &claim)
{
    ObjectKey key = claim.object.key;
    record_foreign_claim(claim.object, claim.deleted);
    devices_freed_ |= claim.deleted;
    if (claim.deleted)
        claims_.remove(key);
    else
        claims_.put(std::move(claim.object));
    claims_changed();
    agenda_.wake(claim_users_.changed(key, claim.deleted));
}

// Wakes gangs when Nodes, drivers or classes have changed, or devices were
// given back. A job that is queued keeps its place in the queue; which nodes
// are excluded for it is decided again when it has left the queue.
void Bridge::wake_for_devices()
{
    if (!devices_.on() || !devices_.known())
        return;
    auto catalog = devices_.catalog();
    bool others = catalog != seen_catalog_;
    if (!std::exchange(devices_freed_, false) && !others)
        return;
    seen_catalog_ = std::move(catalog);
    for (auto &[uid, entry] : gangs_.all()) {
        if (!has_resource_claims(entry.gang) || !any_waits(entry.gang))
            continue;
        bool misses = entry.devices_missed_since || !entry.excluded.empty();
        bool queued =
            entry.gang.job && entry.gang.job->state == JobState::pending;
        // The devices that are free now may be those that it gives back.
        const Action release = ReleaseClaims{};
        bool gives_back = entry.in_flight == release.index() ||
                          attempts_.is_held(entry, release);
        if (!queued && !gives_back)
            entry.excluded.clear();
        if (others && entry.failures > 0)
            attempts_.again(entry); // Slurm refused its job
        else if (others || misses)
            agenda_.wake(uid);
    }
}

// Devices that others have allocated cannot be given out by Slurm until they
// are given back.
void Bridge::record_foreign_claim(const ResourceClaim &claim, bool deleted)
{
    ResourceClaimPtr before = claims_.find(claim.key);
    bool was = before && before->allocated && !before->allocated_by_us;
    bool is = !deleted && claim.allocated && !claim.allocated_by_us;
    devices_freed_ |= before && before->allocated && !claim.allocated;
    bool same = was && is && before->devices == claim.devices;
    if ((was || is) && !same)
        sync_.change_soon();
}

// Only those who write claims can prevent that; the documentation of Kubernetes
// says the same of its own scheduler.
void Bridge::claims_changed()
{
    const std::set<DeviceId> &twice = claims_.taken_twice();
    if (twice.empty())
        context_.health.solved(twice_problem);
    else
        context_.health.problem(twice_problem,
                                "device " + twice.begin()->str() +
                                    " is in several ResourceClaims");
}

// Derives from a gang's claims what decide() needs.
void Bridge::update_devices(GangEntry &entry)
{
    Gang &gang = entry.gang;
    const Pod &pod = lead_of(gang);
    gang.devices.reset();
    gang.devices_at.clear();
    if (pod.terminal() || (gang.grouped && !waits(gang, pod)))
        return;
    GangDevices devices;
    // the answer may come before may() is asked
    bool answered = context_.ports.access.answered();
    if (!devices_.on()) {
        devices.unfit_reason = no_gres_message(gang);
    } else if (!context_.ports.access.may(Feature::devices)) {
        devices.reason = no_device_rights_message();
        devices.unknown = !answered;
        agenda_.wake_at(entry, context_.now + access_pause);
    } else if (!claims_known()) {
        devices.reason = claims_unlisted_message();
        devices.unknown = true;
        agenda_.wake_at(entry, context_.now + device_pause);
    } else if (may_use_extended(entry, devices)) {
        devices.unknown = !first_.has(FirstLists::List::slurm_devices);
        if (gang.grouped)
            read_gang_needs(entry, devices);
        else
            read_needs(entry, devices);
        bool only_waits = !gang.job && !pod.bound() && devices.left.empty() &&
                          devices.unfit_reason.empty();
        if (only_waits && awaits_templates(gang, claims_, context_.wall)) {
            agenda_.wake_at(entry, context_.now + device_pause);
            return;
        }
        gang.devices = std::make_shared<const GangDevices>(std::move(devices));
        return;
    }
    if (has_nodes(gang) && !pod.bound())
        record_claim_delay(entry);
    gang.devices = std::make_shared<const GangDevices>(std::move(devices));
}

bool Bridge::claims_known() const
{
    return claims_.listed() && devices_.known();
}

void Bridge::read_needs(GangEntry &entry, GangDevices &devices)
{
    Gang &gang = entry.gang;
    const Pod &pod = lead_of(gang);
    claim_users_.add(gang, pod);
    ClaimFacts facts = claim_facts(gang);
    facts.extended = extended_needs_of(entry, pod);
    DeviceNeeds needs = device_needs(pod, facts);
    if (needs.reason.empty())
        needs.reason = used_by_others_reason(gang, pod, needs);
    record_cpus(pod, needs, *devices_.catalog(), devices);
    devices.counts = claims_counted(pod, needs);
    if (pod.bound()) {
        devices.gres = gres_of_living(pod, needs);
        return;
    }
    if (!needs.unfit_reason.empty())
        devices.unfit_reason = needs.unfit_reason;
    devices.reason = needs.reason;
    devices.gres = task_gres(needs);
    narrow(gang, needs.selectors);
    narrow(gang, but_for_excluded(entry));
    bool asks = !gang.job || !is_allocated(gang.job->state);
    if (asks && devices.reason.empty() && devices.unfit_reason.empty())
        narrow(gang, device_condition({needs}));
    devices.asked = asked_words(needs);
    if (asks)
        devices.left = holds_of(pod);
    else if (has_nodes(gang) && gang.assumed_bound.empty())
        plan_for_job(entry, needs, devices);
}

std::string Bridge::used_by_others_reason(const Gang &gang, const Pod &pod,
                                          const DeviceNeeds &needs)
{
    auto catalog = devices_.catalog();
    return claims_in_use_reason(
        pod, needs,
        {*catalog, nodes_.hybrid(), [&](const ResourceClaim &claim) {
             return shared_claims_.counting(gang, claim.key);
         }});
}

// Returns the claims that are reserved for the Pod, usable or not.
std::vector<ClaimHold> Bridge::holds_of(const Pod &pod) const
{
    std::vector<ClaimHold> made;
    for (const PodClaim &one : pod.resource_claims)
        if (auto claim = claims_.find({pod.key.ns, one.claim});
            claim && claim->is_reserved_for(pod.uid))
            made.push_back({claim->key, claim->uid, pod.uid});
    if (auto hold = extended_hold(pod))
        made.push_back(std::move(*hold));
    return made;
}

ClaimFacts Bridge::claim_facts(const Gang &gang)
{
    auto ns = namespaces_.find(gang.key.ns);
    return {
        .find_claim =
            [this](const ObjectKey &key) { return claims_.find(key); },
        .gres_for =
            [this](const DeviceRequest &request, CelBudget &budget) {
                return gres_memo_.gres_for(devices_.catalog(), request, budget);
            },
        .most_on_a_node =
            [this, &gang](const DeviceRequest &request, CelBudget &budget) {
                return most_on_a_node(gang, request, budget);
            },
        .asked_by_others =
            [this, &gang](const ResourceClaim &claim) {
                return asked_by_others(gang, claim);
            },
        .admin_access = ns != namespaces_.end() &&
                        ns->second.labels.contains(admin_label) &&
                        ns->second.labels.at(admin_label) == "true",
        .extended = {},
        .was_deleted =
            [this](const ObjectKey &key) { return claims_.was_deleted(key); },
        .most_on_any_node =
            [this](const DeviceRequest &request, CelBudget &budget) {
                auto catalog = devices_.catalog();
                auto counts = gres_memo_.counts_for(catalog, request, budget);
                return most_fitting(*counts, *catalog, request,
                                    [this](const std::string &name) {
                                        return nodes_.is_slurms(name);
                                    });
            },
    };
}

Result<std::int64_t> Bridge::most_on_a_node(const Gang &gang,
                                            const DeviceRequest &request,
                                            CelBudget &budget)
{
    auto catalog = devices_.catalog();
    auto counts = gres_memo_.counts_for(catalog, request, budget);
    const Predicate &wanted = value_of(gang.predicate);
    return most_fitting(
        *counts, *catalog, request, [&](const std::string &name) {
            const Node *node =
                nodes_.is_slurms(name) ? nodes_.find(name) : nullptr;
            return node && matches(wanted, *node);
        });
}

// If several Pods share a claim, one job gets its devices. The other Pods
// follow once the watch has shown which devices these are.
bool Bridge::asked_by_others(const Gang &gang, const ResourceClaim &claim)
{
    bool asks_too =
        gang.job && !is_ended(gang.job->state); // the hold is its own
    bool is_written = !asks_too && claims_.holds_for(claim.uid, context_.now);
    return std::ranges::any_of(
        claim_users_.of(claim.key), [&](const std::string &uid) {
            const GangEntry *other =
                uid == gang.uid ? nullptr : gangs_.find(uid);
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
