// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/device_troubles.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

// The time to give back a claim whose Pod has ended.
constexpr std::chrono::seconds device_patience{10};
constexpr std::chrono::minutes exclusion{2}; // a node's devices may change

} // namespace

// A device that another Pod had is free a moment later; if it stays taken,
// Slurm cannot give it out. When the new job of a living Pod waits for its
// node, all gangs that wait there for devices leave at once, like those that
// wait for room.
void DeviceTroubles::wait(GangEntry &entry, GangDevices &devices)
{
    answered(entry);
    to_.agenda.wake_at(entry, to_.context.now + device_pause);
    if (!entry.devices_missed_since)
        entry.devices_missed_since = to_.context.now;
    auto adoption = to_.room.adoption_due(devices.node);
    bool overdue =
        to_.context.now - *entry.devices_missed_since >= device_patience ||
        (adoption && *adoption <= to_.context.now);
    // What a Pod alone waits for itself, no other job would give it.
    bool own = !devices.unfit_reason.empty() || !devices.reason.empty();
    if (overdue && !own && devices.plan.misfit.empty())
        devices.plan.misfit = devices.plan.wait;
}

void DeviceTroubles::answered(GangEntry &entry) const
{
    auto &since = entry.answers_missed_since;
    if (!since)
        return;
    for (auto *waited :
         {&entry.devices_missed_since, &entry.bind_failing_since})
        if (*waited)
            **waited += to_.context.now - std::max(*since, **waited);
    since.reset();
}

// A device that another Pod had is mostly free a moment later: see wait(). An
// answer comes as soon, mostly.
bool DeviceTroubles::may_be_short(const GangEntry &entry) const
{
    auto is_recent = [&](const std::optional<Clock::time_point> &since) {
        return since && to_.context.now - *since < told_after;
    };
    const GangDevicesPtr &devices = entry.gang.devices;
    return is_placed(entry.gang) && (is_recent(entry.devices_missed_since) ||
                                     is_recent(entry.answers_missed_since) ||
                                     (devices && devices->goes_on));
}

void DeviceTroubles::refused(GangEntry &entry, const ClaimsRefused &refused)
{
    log_warning("a ResourceClaim was refused",
                {{"Gang", entry.gang.key.str()}, {"err", refused.reason}});
    if (!entry.gang.job)
        return;
    entry.claims_refused_reason = refused.reason;
    entry.claims_refused_node = refused.node;
    entry.claims_refused_job = entry.gang.job->ref;
    // If there are several claims, some may have been written before the
    // refused one; so may one whose write is noted on its Pod first. The watch
    // will show them.
    if (entry.gang.devices && entry.gang.devices->plan.claims.size() == 1)
        if (const ClaimPlan &one = entry.gang.devices->plan.claims.front();
            one.mappings.empty())
            to_.devices.not_written(one);
    to_.voice.say(entry,
                  not_bound_message(entry.gang.job->ref, refused.reason));
}

void DeviceTroubles::given_up(GangEntry &entry)
{
    exclude_node(entry);
    entry.devices_missed_since.reset();
}

void DeviceTroubles::exclude_node(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.devices || !gang.devices->plan.bad_node)
        return;
    const ClaimsPlan &plan = gang.devices->plan;
    const std::string &reason = plan.misfit.empty() ? plan.wait : plan.misfit;
    if (reason.empty() || gang.devices->node.empty())
        return;
    entry.excluded[gang.devices->node] = to_.context.now + exclusion;
    entry.excluded_reason = reason;
}

std::vector<NodeSelector> DeviceTroubles::but_for_excluded(GangEntry &entry)
{
    std::erase_if(entry.excluded, [&](const auto &node) {
        return node.second <= to_.context.now;
    });
    if (entry.excluded.empty())
        return {};
    NodeRequirement none_of{"metadata.name", true, NodeOperator::not_in, {}};
    Clock::time_point next = Clock::time_point::max();
    for (const auto &[name, until] : entry.excluded) {
        none_of.values.push_back(name);
        next = std::min(next, until);
    }
    to_.agenda.wake_at(entry, next);
    return {NodeSelector{NodeTerm{std::move(none_of)}}};
}

void DeviceTroubles::wake_for(DeviceChange change)
{
    for (auto &[uid, entry] : to_.gangs.all())
        if (has_resource_claims(entry.gang) && any_waits(entry.gang))
            wake_for(uid, entry, change);
}

// A job that is queued keeps its place in the queue; which nodes are excluded
// for it is decided again when it has left the queue.
void DeviceTroubles::wake_for(const std::string &uid, GangEntry &entry,
                              DeviceChange change)
{
    bool others = change == DeviceChange::others;
    bool misses = entry.devices_missed_since || !entry.excluded.empty();
    bool queued = entry.gang.job && entry.gang.job->state == JobState::pending;
    // The devices that are free now may be those that it gives back.
    const Action release = ReleaseClaims{};
    bool gives_back = entry.in_flight == release.index() ||
                      to_.attempts.is_held(entry, release);
    if (!queued && !gives_back)
        entry.excluded.clear();
    if (others && entry.failures > 0)
        to_.attempts.again(entry); // Slurm refused its job
    else if (others || misses)
        to_.agenda.wake(uid);
}

} // namespace bridge
