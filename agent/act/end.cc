// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/end.h"

#include "agent/decide/messages.h"
#include "agent/gang/batch_place.h"
#include "agent/gang/facts.h"

#include <ranges>

namespace bridge {

namespace {

// Whether to try again later. A rejected call is rejected again: then there is
// another way.
bool try_later(const Result<> &said)
{
    return !said && (said.error().code == Code::busy ||
                     said.error().code == Code::uncertain);
}

// Asks the API server if the outcome of a binding is unknown and the watch does
// not show one.
Result<bool> is_bound(const Gang &gang, const Pod &pod, Kube &kube)
{
    if (pod.bound() || !gang.maybe_bound.contains(pod.uid))
        return true;
    auto now = kube.get_pod(pod.key);
    if (!now && now.error().code != Code::not_found)
        return std::unexpected(now.error());
    return now && now->uid == pod.uid && now->bound();
}

// A kubelet grants a Pod that is past its deadline the Pod's own grace period.
// If that is too long, only a deletion bounds it.
Result<> end_pod(const Gang &gang, const Pod &pod, const EndPods &ending,
                 Kube &kube)
{
    if (pod.deleting) // shortens the grace period
        return kube.delete_within(pod, grace_after_job(gang, pod));
    std::string words = job_ended_message(ending.job, ending.state);
    if (!told_to_end(pod))
        (void)kube.post_event(pod, {PodEvent::Type::warning,
                                    ended_event_reason(ending.state), "Ending",
                                    words});
    std::string disruption = disruption_reason(ending.state);
    if (!disruption.empty())
        if (auto said = kube.set_disrupted(pod, disruption, words);
            try_later(said))
            return said;
    if (ending.insist || !pod.started)
        return kube.delete_within(pod, grace_after_job(gang, pod));
    if (ending.state == JobState::preempted)
        if (auto evicted = kube.evict_pod(pod, grace_after_job(gang, pod));
            evicted || try_later(evicted))
            return evicted;
    // A worker's log is empty.
    if (is_worker(pod) || pod.grace_period > gang.grace.longest)
        return kube.delete_within(pod, grace_after_job(gang, pod));
    auto expired = kube.expire_pod(pod);
    if (expired || try_later(expired))
        return expired;
    // Also succeeds if it is gone.
    return kube.delete_within(pod, grace_after_job(gang, pod));
}

// Whether the worker ends only because its script has ended: see
// decide_batch().
bool ends_with_script(const Complete &complete, const Gang &gang)
{
    if (gang.grouped || !gang.of_batch.gone || gang.pods.empty())
        return false;
    const Pod &pod = *gang.pods.front();
    return is_worker(pod) && !pod.terminal() && complete.status == 0 &&
           complete.reason.empty();
}

} // namespace

Result<Outcome> end_pods(const Gang &gang, const EndPods &ending, Kube &kube)
{
    PodsEnded done;
    for (const PodPtr &pod : gang.pods) {
        if (!lives_by_job(gang, *pod) ||
            (pod->deleting && ends_in_time(gang, *pod)))
            continue;
        auto bound = is_bound(gang, *pod, kube);
        if (!bound)
            return std::unexpected(bound.error());
        if (!*bound)
            done.never_bound.push_back(pod->uid);
        else if (auto ended = end_pod(gang, *pod, ending, kube); !ended)
            return std::unexpected(ended.error());
    }
    return done;
}

Result<Outcome> fail_pods(const Gang &gang, const FailPods &failing, Kube &kube)
{
    std::string words = job_ended_message(failing.job, failing.state);
    std::string reason = failed_pod_reason(failing.state);
    // Fails the first Pod last, because it shows whom the job was for.
    for (const PodPtr &pod : std::views::reverse(gang.pods)) {
        bool bound = gang.grouped && pod->bound();
        if (pod->terminal() || pod->deleting || bound)
            continue;
        if (is_worker(*pod)) {
            if (auto gone = kube.delete_pod(*pod); !gone)
                return std::unexpected(gone.error());
            continue;
        }
        if (auto failed = kube.fail_pod(*pod, reason, words); !failed)
            return std::unexpected(failed.error());
        (void)kube.post_event(
            *pod, {PodEvent::Type::warning, reason, "Scheduling", words});
    }
    return Done{};
}

Result<> check_script_over(const Action &action, const Gang &gang, Kube &kube)
{
    const auto *complete = std::get_if<Complete>(&action);
    if (!complete || !ends_with_script(*complete, gang))
        return {};
    const Pod &worker = *gang.pods.front();
    auto mark = batch_mark(worker);
    auto place = batch_place(worker);
    if (!mark || !place)
        return {};
    auto script = kube.get_pod({worker.key.ns, batch_pod_name(*mark)});
    if (!script && script.error().code != Code::not_found)
        return std::unexpected(script.error());
    if (script && script->uid == place->first && !script->terminal())
        return fail(
            Code::busy,
            "the Pod of its script still exists, although it is in no list");
    return {};
}

} // namespace bridge
