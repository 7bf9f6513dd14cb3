// SPDX-License-Identifier: GPL-2.0-or-later
// What messages about Pods, and about the objects that define gangs, change.
#include "agent/owner/owner.h"

#include "agent/owner/creation_time.h"
#include "agent/owner/pod_ends.h"

#include <unordered_set>
#include <utility>
#include <variant>

namespace bridge {

void Owner::on(Listed<Pod> &pods)
{
    if (to_.held.postpone(pods))
        return;
    std::unordered_set<std::string> keep;
    for (Pod &pod : pods.objects) {
        keep.insert(pod.uid);
        to_.placement.share(pod);
        to_.groups.note(pod);
        if (to_.held.hold(pod, !to_.first.has_all_pods()))
            continue;
        pod.gang = to_.groups.gang_of(pod);
        to_.outside.note(pod, false);
        count_binding(pod);
        to_.room.note(pod);
        to_.agenda.wake(to_.gangs.put(std::move(pod)));
    }
    to_.first.add_pods(pods.source);
    for (const std::string &uid : to_.held.forget_but(pods.source, keep))
        to_.groups.forget(uid);
    for (const Pod &pod : to_.gangs.missing(pods.source, keep)) {
        to_.outside.note(pod, true);
        to_.batch_pods.forget(pod.uid);
        to_.groups.forget(pod.uid);
        to_.voice.forget(pod.uid);
        auto uid = to_.gangs.remove(pod);
        GangEntry *entry = uid ? to_.gangs.find(*uid) : nullptr;
        to_.room.note_gone(pod, entry ? &entry->gang : nullptr);
        if (entry)
            entry->gang.unseen = true; // the list may be wrong: ask
        else if (uid)
            to_.batch_pods.forget(*uid);
        if (uid)
            to_.agenda.wake(*uid);
    }
}

void Owner::on(Changed<Pod> &pod)
{
    if (pod.object.arrived == std::chrono::system_clock::time_point{})
        pod.object.arrived = to_.context.wall;
    if (to_.held.postpone(pod))
        return;
    to_.placement.share(pod.object);
    if (pod.deleted)
        to_.batch_pods.forget(pod.object.uid);
    if (pod.deleted)
        to_.groups.forget(pod.object.uid);
    else
        to_.groups.note(pod.object);
    if (pod.deleted)
        to_.held.forget(pod.object.uid);
    else if (to_.held.hold(pod.object, !to_.first.has_all_pods()))
        return;
    to_.context.health.count("pod");
    pod.object.gang = to_.groups.gang_of(pod.object);
    to_.outside.note(pod.object, pod.deleted);
    to_.voice.check(pod.object);
    if (!pod.deleted) {
        count_binding(pod.object);
        to_.room.note(pod.object);
        std::string uid = to_.gangs.put(std::move(pod.object));
        // Its deletion may be taken before the next turn.
        record_ends(to_.gangs.find(uid)->gang);
        to_.agenda.wake(uid);
    } else if (auto uid = to_.gangs.remove(pod.object)) {
        to_.voice.forget(pod.object.uid);
        GangEntry *entry = to_.gangs.find(*uid);
        to_.room.note_gone(pod.object, entry ? &entry->gang : nullptr);
        if (!entry)
            to_.batch_pods.forget(*uid);
        to_.agenda.wake(*uid);
    }
}

// A binding counts once its Pod is seen with a node, whoever has made it.
void Owner::count_binding(const Pod &pod)
{
    if (!pod.bound()) // needs no search in a large gang
        return;
    PodPtr before = to_.gangs.find(pod);
    if (before && !before->bound())
        to_.context.health.time_binding(to_.context.wall -
                                        creation_of(*before));
}

// Pods whose gang is known by now come as if they had come now.
void Owner::release_held()
{
    for (Pod &pod : to_.held.ready()) {
        Changed<Pod> news{std::move(pod), false};
        on(news);
    }
}

void Owner::on(GroupsListed &groups)
{
    GroupApi api = groups.api;
    GroupLooks::Number look = groups.look;
    to_.groups.take(groups);
    to_.held.answered(api, look);
    if (!to_.groups.table().settled())
        return;
    for (auto &held : to_.held.take_postponed())
        std::visit([this](auto &news) { on(news); }, held);
    release_held();
}

void Owner::on(Changed<GroupSpec> &group)
{
    to_.groups.take(group);
}

} // namespace bridge
