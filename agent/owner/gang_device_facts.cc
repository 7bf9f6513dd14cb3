// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/gang_device_facts.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gres/claim_cpus.h"
#include "agent/gres/claim_sharing.h"
#include "agent/gres/device_ask.h"
#include "agent/owner/pauses.h"
#include "agent/owner/placement.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

// until a template's claim is made
constexpr std::chrono::seconds claim_patience{3};

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
    return is_placed(gang) && !gang.job->nodes.empty();
}

// No allocation waits for claims for ever, but Pods that run are not given up
// for one that comes late.
bool may_overdue(const Gang &gang)
{
    return !gang.grouped || gang.job->state == JobState::configuring;
}

std::string of_pod(const Pod &pod, const std::string &words)
{
    return std::format("Pod {}: {}", pod.key.name, words);
}

void add_unlike(std::vector<NodeSelector> &to,
                const std::vector<NodeSelector> &more)
{
    for (const NodeSelector &one : more)
        if (!std::ranges::contains(to, one))
            to.push_back(one);
}

// pods are those for which a job is requested.
void sum_up(const std::vector<DeviceNeeds> &pods, GangDevices &devices)
{
    if (auto claim = shared_claim(pods); claim && devices.unfit_reason.empty())
        devices.unfit_reason = std::format(
            "several Pods of the gang share the ResourceClaim {}, which is not "
            "supported before it has its devices",
            claim->key.name);
    devices.gres = task_gres(pods);
    for (const DeviceNeeds &pod : pods)
        if (devices.asked.empty())
            devices.asked = asked_words(pod);
}

// Of a gang, the Pods whose devices matter are those on their way to a node.
// Those of a Pod alone matter as long as it lives: what its next job would have
// to have follows from them.
bool matters(const Gang &gang, const Pod &pod)
{
    return !gang.grouped || waits(gang, pod);
}

std::vector<PodPtr> pods_to_read(const Gang &gang, bool asks)
{
    std::vector<PodPtr> pods = asks ? asked_for(gang) : gang.pods;
    std::erase_if(pods,
                  [&](const PodPtr &pod) { return !matters(gang, *pod); });
    return pods;
}

// Takes over what keeps the Pod from getting a job.
void add_reasons(const Gang &gang, const Pod &pod, const DeviceNeeds &needs,
                 GangDevices &devices)
{
    auto words = [&](const std::string &reason) {
        return gang.grouped ? of_pod(pod, reason) : reason;
    };
    if (!needs.unfit_reason.empty() && devices.unfit_reason.empty())
        devices.unfit_reason = words(needs.unfit_reason);
    if (!needs.reason.empty() && devices.reason.empty())
        devices.reason = words(needs.reason);
}

bool has_reasons(const GangDevices &devices)
{
    return !devices.unfit_reason.empty() || !devices.reason.empty();
}

// It was made without knowing which devices fit.
void forget_plan(GangDevices &devices, std::string reason)
{
    devices.plan = {};
    devices.not_now.clear();
    devices.node.clear();
    devices.reason = std::move(reason);
}

// Those of the Pods that wait, by uid.
std::map<std::string, DeviceNeeds>
needs_of_waiting(const Gang &gang, const std::vector<PodPtr> &pods,
                 std::vector<DeviceNeeds> needs)
{
    std::map<std::string, DeviceNeeds> by_pod;
    for (std::size_t i = 0; i < pods.size(); i++)
        if (waits(gang, *pods[i]))
            by_pod[pods[i]->uid] = std::move(needs[i]);
    return by_pod;
}

} // namespace

DevicesFound GangDeviceFacts::facts(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    const Pod &pod = lead_of(gang);
    DevicesFound found{.devices = nullptr, .placement = gang.placement};
    if (!has_nodes(gang) || !any_waits(gang))
        DevicePlan::forget(entry);
    if (pod.terminal() || (gang.grouped && !waits(gang, pod)))
        return found;
    GangDevices devices;
    bool late = has_nodes(gang) && !pod.bound();
    if (may_read(entry, devices)) {
        late = read(entry, devices, found);
        found.unanswered = found.missing || found.goes_on;
        note_answers(entry, found);
        devices.unanswered = found.unanswered;
        devices.goes_on = found.goes_on;
        bool keeps = found.unanswered && keeps_known(entry, devices);
        if (keeps)
            found.devices = gang.devices;
        if (keeps || only_waits(entry, devices)) {
            if (!found.unanswered)
                to_.agenda.wake_at(entry, to_.context.now + device_pause);
            return found;
        }
        if (is_placed(gang))
            found.unanswered = false; // it stays where it is
        if (!devices.unanswered)
            wake_sharers(gang);
    }
    found.devices = std::make_shared<const GangDevices>(std::move(devices));
    found.delay_binding = late && may_overdue(gang);
    return found;
}

bool GangDeviceFacts::only_waits(const GangEntry &entry,
                                 const GangDevices &devices) const
{
    const Gang &gang = entry.gang;
    if (gang.job || lead_of(gang).bound() || !devices.left.empty() ||
        !devices.unfit_reason.empty())
        return false;
    bool compares = entry.answers_missed_since &&
                    to_.context.now - *entry.answers_missed_since < told_after;
    return compares || devices.goes_on ||
           awaits_templates(gang, to_.devices.claims(), to_.context.wall);
}

// No job is requested by answers of the devices of before, unless newer ones
// do not come for a while.
bool GangDeviceFacts::awaits_newer(const GangEntry &entry) const
{
    bool recently = !entry.answers_missed_since ||
                    to_.context.now - *entry.answers_missed_since < told_after;
    return !entry.gang.job && recently && to_.answers.awaited_by(entry.gang);
}

// The answer wakes the gang.
void GangDeviceFacts::note_answers(GangEntry &entry, const DevicesFound &found)
{
    const Clock::time_point now = to_.context.now;
    auto &since = entry.answers_missed_since;
    if (found.missing) {
        if (!since)
            since = now;
        if (now - *since < told_after)
            to_.agenda.wake_at(entry, *since + told_after);
        if (!to_.answers.awaited_by(entry.gang))
            to_.agenda.wake_at(entry, now + device_pause);
    } else if (!found.goes_on) {
        to_.troubles.answered(entry);
    }
}

// What its job is for is known now; others that name its claims may have waited
// for that: see ClaimNeeds.
void GangDeviceFacts::wake_sharers(const Gang &gang) const
{
    if (!gang.job || (gang.devices && !gang.devices->unanswered))
        return;
    for (const PodPtr &pod : gang.pods)
        for (const PodClaim &one : pod->resource_claims)
            for (const std::string &uid :
                 to_.devices.users_of({pod->key.ns, one.claim}))
                if (uid != gang.uid)
                    to_.agenda.wake(uid);
}

// A job that is queued keeps its place, and its nodes their features, while
// devices that have changed are compared anew; so does what its Pods were told.
bool GangDeviceFacts::keeps_known(const GangEntry &entry,
                                  const GangDevices &devices) const
{
    const Gang &gang = entry.gang;
    if (!devices.left.empty() || is_placed(gang))
        return false;
    bool queued = gang.job && gang.job->state == JobState::pending;
    bool told = gang.devices && has_reasons(*gang.devices);
    return queued || (told && only_waits(entry, devices));
}

bool GangDeviceFacts::may_read(GangEntry &entry, GangDevices &devices)
{
    const Context &context = to_.context;
    // the answer may come before may() is asked
    bool answered = context.ports.access.answered();
    if (!to_.devices.on()) {
        devices.unfit_reason = no_gres_message(entry.gang);
        return false;
    }
    if (!context.ports.access.may(Feature::devices)) {
        devices.reason = no_device_rights_message();
        devices.unknown = !answered;
        to_.agenda.wake_at(entry, context.now + access_pause);
        return false;
    }
    if (!to_.devices.all_known()) {
        devices.reason = claims_unlisted_message();
        devices.unknown = true;
        to_.agenda.wake_at(entry, context.now + device_pause);
        return false;
    }
    return to_.extended.may_use(entry, devices);
}

void GangDeviceFacts::read_holds(const Gang &gang, bool asks,
                                 GangDevices &devices)
{
    for (const PodPtr &pod : gang.pods) {
        if (!matters(gang, *pod))
            continue;
        to_.devices.add_user(gang, *pod);
        if (asks && waits(gang, *pod))
            std::ranges::move(to_.needs.held_for(*pod),
                              std::back_inserter(devices.left));
    }
}

// A Pod alone that lives: a new job of it would have to have the same devices.
void GangDeviceFacts::read_living(GangEntry &entry, GangDevices &devices)
{
    const Pod &pod = lead_of(entry.gang);
    const Predicate &where = value_of(entry.gang.placement.predicate);
    DeviceNeeds needs = to_.needs.of(entry, pod, where);
    record_cpus(pod, needs, *to_.devices.catalog(), devices);
    devices.counts = claims_counted(pod, needs);
    devices.gres = to_.plan.gres_of_living(pod, needs);
}

// What a job has to have is also described for a Pod alone whose job has a
// node, since that may have become one that does not suit it.
bool GangDeviceFacts::read(GangEntry &entry, GangDevices &devices,
                           DevicesFound &found)
{
    PlacementFacts &placement = found.placement;
    const Gang &gang = entry.gang;
    devices.unknown = !to_.first.has(FirstLists::List::slurm_devices);
    if (devices.unknown)
        to_.agenda.wake_at(entry, to_.context.now + device_pause);
    bool asks = !gang.job || !is_allocated(gang.job->state);
    read_holds(gang, asks, devices);
    if (!gang.grouped && lead_of(gang).bound()) {
        read_living(entry, devices);
        return false;
    }
    if (gang.grouped) {
        narrow(to_.predicates, placement, to_.troubles.but_for_excluded(entry));
        if (!devices.left.empty() || (asks && !enough_wait(gang)))
            return false;
    }
    std::vector<PodPtr> pods = pods_to_read(gang, asks);
    const PredicatePtr where = placement.predicate;
    if (asks)
        devices.unfit_reason =
            to_.needs.not_together_reason(gang, pods, value_of(where));
    bool describes = asks || !gang.grouped;
    auto needs = read_needs(entry, pods, describes, devices, found);
    found.missing |= awaits_newer(entry);
    bool unanswered = found.missing || found.goes_on;
    if (unanswered && devices.reason.empty())
        devices.reason = to_.answers.message_for(gang);
    if (unanswered || (gang.grouped && !gang.job && has_reasons(devices)))
        return false;
    if (describes)
        describe(entry, needs, asks, devices, placement);
    if (asks || gang.job->nodes.empty())
        return false;
    auto waiting = needs_of_waiting(gang, pods, std::move(needs));
    if (waiting.empty())
        return false;
    bool late = to_.seats.plan(entry, waiting, devices);
    found.goes_on = devices.goes_on;
    found.missing = devices.unanswered && !devices.goes_on;
    if (devices.unanswered)
        forget_plan(devices, to_.answers.message_for(gang));
    return late;
}

// Of a gang, the others are looked at when the first that has to wait need not
// wait any more. What is read is remembered, so the next turn goes on from
// there.
std::vector<DeviceNeeds>
GangDeviceFacts::read_needs(GangEntry &entry, const std::vector<PodPtr> &pods,
                            bool describes, GangDevices &devices,
                            DevicesFound &found)
{
    const Gang &gang = entry.gang;
    const PredicatePtr where = found.placement.predicate;
    std::vector<DeviceNeeds> needs;
    for (const PodPtr &pod : pods) {
        if (!needs.empty() && to_.needs.kept_enough()) {
            found.goes_on = true;
            to_.agenda.wake(gang.uid);
            break;
        }
        const DeviceNeeds &own =
            needs.emplace_back(to_.needs.of(entry, *pod, value_of(where)));
        record_cpus(*pod, own, *to_.devices.catalog(), devices);
        found.missing |= own.unanswered;
        if (describes)
            add_reasons(gang, *pod, own, devices);
        if (own.unanswered ||
            (describes && gang.grouped && !gang.job && has_reasons(devices)))
            break;
        if (describes)
            std::ranges::move(claims_counted(*pod, own),
                              std::back_inserter(devices.counts));
    }
    return needs;
}

void GangDeviceFacts::describe(GangEntry &entry,
                               const std::vector<DeviceNeeds> &needs, bool asks,
                               GangDevices &devices, PlacementFacts &placement)
{
    std::vector<NodeSelector> selectors;
    for (const DeviceNeeds &own : needs)
        add_unlike(selectors, own.selectors);
    sum_up(needs, devices);
    narrow(to_.predicates, placement, selectors);
    if (!entry.gang.grouped)
        narrow(to_.predicates, placement, to_.troubles.but_for_excluded(entry));
    if (asks && !has_reasons(devices))
        narrow(to_.predicates, placement, entry.gang, device_condition(needs));
}

} // namespace bridge
