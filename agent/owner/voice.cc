// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/voice.h"

#include "agent/calls/kube_bodies.h"
#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

// The Node of a job of one node. Pods of several wait for each other, and are
// bound together.
std::string Voice::nominated(const Gang &gang) const
{
    if (!gang.job || !is_allocated(gang.job->state) ||
        gang.job->nodes.size() != 1)
        return {};
    const Node *node = nodes_.behind(gang.job->nodes.front());
    return node ? node->name : std::string();
}

void Voice::say(GangEntry &entry, const std::string &reason,
                const std::string &message, const std::string &more)
{
    if (entry.told == message && entry.told_reason == reason)
        return;
    entry.told = message;
    entry.told_reason = reason;
    const ShownMessage shown{reason, condition_message(message)};
    PodWait wait{reason, more.empty() ? message : message + " " + more,
                 nominated(entry.gang)};
    for (const PodPtr &pod : entry.gang.pods) {
        if (!may_be_told(*pod))
            continue;
        if (shows(*pod, shown))
            messages_.withdraw(*pod);
        else
            messages_.tell(entry, pod, wait, shown);
    }
}

void Voice::warn_once(GangEntry &entry, const std::string &reason,
                      const std::string &text)
{
    if (entry.told != text)
        warn(entry.gang, reason, text);
    entry.told = text;
}

void Voice::warn(const Gang &gang, const std::string &reason,
                 const std::string &text) const
{
    for (const PodPtr &pod : gang.pods)
        if (pod->living())
            errands_.report_in(pod->key.ns, [pod, reason, text](Kube &kube) {
                (void)kube.post_event(*pod, {PodEvent::Type::warning, reason,
                                             "Scheduling", text});
            });
}

// A message that the Pods already show is repeated only when the class of the
// reason changes: a moving queue must not cause a storm of writes.
void Voice::say_pending_reason(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.job || gang.job->state != JobState::pending || gang.stale ||
        !gang.placement.nowhere.empty() || gang.job->reason.empty())
        return;
    // Of one class a reason is said again only if more nodes would help now,
    // and would not before: the other way, the queue has moved for a moment.
    std::string reason = scheduled_reason(gang);
    auto says_it = [&](const std::string &message, const std::string &shown) {
        return has_reason_class_of(message, *gang.job) &&
               (shown == names::unschedulable ||
                reason != names::unschedulable);
    };
    if (says_it(entry.told, entry.told_reason))
        return;
    bool on_pods = std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return says_it(pod->scheduled.message, pod->scheduled.reason);
    });
    if (on_pods) { // this agent said so before a restart
        entry.told = waiting_message(*gang.job);
        entry.told_reason =
            gang.pods.empty() ? reason : gang.pods.front()->scheduled.reason;
    } else
        say(entry, waiting_message(*gang.job),
            expected_start_message(*gang.job));
}

void Voice::say_bound(const Gang &gang, const Bind &bind) const
{
    for (const auto &[node, pods] : pods_by_node(gang, bind))
        for (const PodPtr &pod : pods) {
            std::string text = bound_message(*pod, node, bind.job);
            if (gang.grouped && gang.job)
                text += waste_message(
                    *pod, cpus_of(gang, *pod),
                    component_on(*gang.job, nodes_.slurm_name_of(node)));
            errands_.report_in(pod->key.ns, [pod, text](Kube &kube) {
                (void)kube.post_event(*pod, {PodEvent::Type::normal,
                                             "Scheduled", "Binding", text});
            });
        }
}

void Voice::hush(GangEntry &entry) const
{
    entry.telling.request_stop();
    entry.telling = {};
    entry.told.clear();
    entry.told_reason.clear();
}

void Voice::check(const Pod &pod)
{
    messages_.note(pod);
    if (!pod.gang || pod.bound() || pod.scheduled.message.empty())
        return;
    GangEntry *entry = gangs_.find(pod.gang->uid);
    if (!entry || entry->told.empty())
        return;
    const ShownMessage shown{entry->told_reason,
                             condition_message(entry->told)};
    if (!messages_.is_on_its_way(pod, shown) && !shows(pod, shown))
        entry->told.clear();
}

} // namespace bridge
