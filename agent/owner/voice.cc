// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/voice.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

// Runs on a worker thread.
Result<> write_message(const Pod &pod, const std::string &text,
                       const std::stop_token &dropped, Kube &kube)
{
    if (dropped.stop_requested())
        return {};
    auto said = kube.set_unscheduled(pod, "Unschedulable", text);
    if (said)
        (void)kube.post_event(pod, {PodEvent::Type::warning, "FailedScheduling",
                                    "Scheduling", text});
    return said;
}

} // namespace

void Voice::say(GangEntry &entry, const std::string &message,
                const std::string &more)
{
    if (entry.told == message)
        return;
    entry.told = message;
    std::string text = more.empty() ? message : message + " " + more;
    for (const PodPtr &pod : entry.gang.pods) {
        if (pod->bound() || pod->terminal() || pod->deleting ||
            pod->scheduled.message.starts_with(message))
            continue;
        errands_.report(
            [pod, text, dropped = entry.telling.get_token()](Kube &kube) {
                return write_message(*pod, text, dropped, kube);
            },
            [this, uid = entry.gang.uid](const Result<> &said) {
                if (GangEntry *known = said ? nullptr : gangs_.find(uid))
                    known->told.clear(); // repeat it when it is due
            });
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
            errands_.report([pod, reason, text](Kube &kube) {
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
        !gang.placement.nowhere.empty() || gang.job->reason.empty() ||
        has_reason_class_of(entry.told, *gang.job))
        return;
    bool on_pods = std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return has_reason_class_of(pod->scheduled.message, *gang.job);
    });
    if (on_pods) // this agent said so before a restart
        entry.told = waiting_message(*gang.job);
    else
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
            errands_.report([pod, text](Kube &kube) {
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
}

void Voice::check(const Pod &pod)
{
    if (!pod.gang || pod.bound() || pod.scheduled.message.empty())
        return;
    GangEntry *entry = gangs_.find(pod.gang->uid);
    if (entry && !entry->told.empty() &&
        !pod.scheduled.message.starts_with(entry->told))
        entry->told.clear();
}

} // namespace bridge
