// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/group_reports.h"

#include "agent/objects/gang_key.h"

#include <algorithm>
#include <iterator>

namespace bridge {

namespace {

using std::chrono::seconds;

// A running controller writes the first status of a PodGroup within a second of
// seeing it, so surely within this time.
constexpr seconds controller_time{10};
constexpr seconds write_interval{1}; // per PodGroup
constexpr seconds failed_repeat{30};

// Returns the PodGroup that the Pod names; empty: none.
std::string group_of(const Pod &pod)
{
    for (const GangKey *key = pod.gang.get(); key; key = key->otherwise.get())
        if (key->group.api == GroupApi::plugins)
            return key->group.name;
    return {};
}

// Returns the counter for this phase, or null if the phase is not counted.
std::uint32_t *counter_of(PodGroupCounts &counts, const std::string &phase)
{
    if (phase == "Running")
        return &counts.running;
    if (phase == "Succeeded")
        return &counts.succeeded;
    return phase == "Failed" ? &counts.failed : nullptr;
}

void count(PodGroupCounts &counts, const std::string &phase)
{
    counts.pods++;
    if (std::uint32_t *counter = counter_of(counts, phase))
        ++*counter;
}

void uncount(PodGroupCounts &counts, const std::string &phase)
{
    counts.pods--;
    if (std::uint32_t *counter = counter_of(counts, phase))
        --*counter;
}

} // namespace

void GroupReports::put(const Pod &pod, Clock::time_point now)
{
    ObjectKey key{pod.key.ns, group_of(pod)};
    auto known = members_.find(pod.uid);
    if (known != members_.end() && known->second.group != key) {
        remove(pod.uid, now); // its labels were changed
        known = members_.end();
    }
    if (key.name.empty())
        return;
    auto group = groups_.try_emplace(key).first;
    Group &its = group->second;
    if (known == members_.end()) {
        its.named = true;
        if (!pod.owner.name.empty())
            its.owner = pod.key.ns + "/" + pod.owner.name;
        members_.emplace(pod.uid, Member{std::move(key), pod.phase});
    } else if (known->second.phase == pod.phase) {
        return;
    } else {
        uncount(its.counts, std::exchange(known->second.phase, pod.phase));
    }
    count(its.counts, pod.phase);
    touch(group, now);
}

void GroupReports::remove(const std::string &pod, Clock::time_point now)
{
    auto member = members_.find(pod);
    if (member == members_.end())
        return;
    auto group = groups_.find(member->second.group);
    uncount(group->second.counts, member->second.phase);
    members_.erase(member);
    touch(group, now);
    drop_if_empty(group);
}

void GroupReports::put(const GroupSpec &spec, Clock::time_point now)
{
    if (spec.api != GroupApi::plugins)
        return;
    auto group = groups_.try_emplace(spec.key).first;
    if (group->second.uid != spec.uid) {
        forget_object(group);
        group->second.uid = spec.uid;
        group->second.since = now;
    }
    touch(group, now);
}

void GroupReports::erase(const GroupSpec &spec)
{
    if (spec.api != GroupApi::plugins)
        return;
    auto group = groups_.find(spec.key);
    if (group == groups_.end() || group->second.uid != spec.uid)
        return; // a later object may have its name by now
    forget_object(group);
    drop_if_empty(group);
}

void GroupReports::replace(const std::vector<GroupSpec> &specs,
                           Clock::time_point now)
{
    std::set<std::string> there;
    for (const GroupSpec &spec : specs)
        there.insert(spec.uid);
    for (auto group = groups_.begin(); group != groups_.end();) {
        auto next = std::next(group);
        if (!there.contains(group->second.uid)) {
            forget_object(group);
            drop_if_empty(group);
        }
        group = next;
    }
    for (const GroupSpec &spec : specs)
        put(spec, now);
}

std::vector<GroupPatch> GroupReports::pop_due(const GroupTable &groups,
                                              Clock::time_point now)
{
    std::vector<GroupPatch> patches;
    while (!queue_.empty() && queue_.begin()->first <= now) {
        auto group = groups_.find(queue_.begin()->second);
        unqueue(group);
        const GroupSpec *spec = groups.find(
            group->first.ns, {GroupApi::plugins, group->first.name});
        auto patch = spec ? report(group->second, *spec) : std::nullopt;
        if (!patch)
            continue;
        group->second.in_flight = true;
        group->second.next = now + write_interval;
        patches.push_back(std::move(*patch));
    }
    return patches;
}

// Returns the patch that is due, if any. A PodGroup that the controller has
// written belongs to the controller; one that only Pods of others name may
// belong to another agent.
std::optional<GroupPatch> GroupReports::report(const Group &group,
                                               const GroupSpec &spec)
{
    bool others =
        spec.status_writer == StatusWriter::others || spec.uid != group.uid;
    bool awaited = group.in_flight || spec.resource_version == group.written;
    if (others || awaited || !group.named)
        return std::nullopt;
    PodGroupStatus next =
        next_status(spec.status, spec.minimum, group.counts, group.owner);
    if (next == spec.status)
        return std::nullopt;
    GroupPatch patch{spec.api, spec.key, spec.uid, spec.resource_version, {}};
    patch.path = spec.path;
    patch.flips = next.started && !spec.status.started;
    patch.status = std::move(next);
    return patch;
}

void GroupReports::done(const GroupPatch &patch, const Result<> &said,
                        Clock::time_point now)
{
    auto group = groups_.find(patch.key);
    if (group == groups_.end() || group->second.uid != patch.uid)
        return;
    group->second.in_flight = false;
    if (said)
        group->second.written = patch.resource_version;
    // After a conflict the watch shows the change soon.
    else if (said.error().code != Code::conflict)
        group->second.next = now + std::max<Clock::duration>(
                                       failed_repeat, said.error().retry_after);
    touch(group, now);
}

Clock::time_point GroupReports::next_due() const
{
    return queue_.empty() ? Clock::time_point::max() : queue_.begin()->first;
}

// Queues the group for the first moment at which it may be written.
void GroupReports::touch(Groups::iterator group, Clock::time_point now)
{
    Group &its = group->second;
    if (its.uid.empty() || its.in_flight)
        return;
    Clock::time_point when =
        std::max({now, its.next, its.since + controller_time});
    if (its.due && *its.due <= when)
        return;
    unqueue(group);
    its.due = when;
    queue_.emplace(when, group->first);
}

void GroupReports::unqueue(Groups::iterator group)
{
    if (group->second.due)
        queue_.erase({*group->second.due, group->first});
    group->second.due.reset();
}

void GroupReports::forget_object(Groups::iterator group)
{
    unqueue(group);
    Group fresh;
    fresh.counts = group->second.counts;
    fresh.owner = std::move(group->second.owner);
    fresh.named = fresh.counts.pods != 0;
    group->second = std::move(fresh);
}

void GroupReports::drop_if_empty(Groups::iterator group)
{
    if (group->second.uid.empty() && group->second.counts.pods == 0)
        groups_.erase(group);
}

} // namespace bridge
