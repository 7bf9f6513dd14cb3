// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide.h"

#include "agent/translate.h"

#include <algorithm>

namespace bridge {

namespace {

bool waiting(const Gang &gang, const Pod &pod)
{
    return !pod.bound() && !pod.terminal() && !pod.deleting &&
           !gang.assumed_bound;
}

bool any_waiting(const Gang &gang)
{
    return std::ranges::any_of(
        gang.pods, [&](const PodPtr &pod) { return waiting(gang, *pod); });
}

// Containers of it may live on a node.
bool any_bound(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return (pod->bound() || gang.assumed_bound) && !pod->terminal();
    });
}

// Those that live have been told to end, by whomever.
bool all_ending(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [](const PodPtr &pod) {
        return pod->terminal() || pod->deleting;
    });
}

bool all_over(const Gang &gang)
{
    return std::ranges::all_of(
        gang.pods, [](const PodPtr &pod) { return pod->terminal(); });
}

// Deleted before they were bound: no container ever was, none will be.
bool all_vanishing(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return pod->deleting && !pod->bound() && !gang.assumed_bound;
    });
}

// Somebody else, or a job that Slurm has lost, put a Pod where it is: this job
// accounts for another place.
bool bound_by_others(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return pod->bound() && !pod->terminal() && !lives_by_job(gang, *pod);
    });
}

Action without_job(const Gang &gang)
{
    if (gang.submit_uncertain)
        return Find{};
    if (all_over(gang))
        return Forget{};
    if (!any_waiting(gang) || any_bound(gang))
        return Wait{};
    if (gang.pods.size() < gang.size)
        return Wait{std::to_string(gang.pods.size()) + " of " +
                    std::to_string(gang.size) + " Pods exist"};
    for (const PodPtr &pod : gang.pods)
        if (pod->gated)
            return Wait{}; // the API server says so on the Pod
    if (std::string why = objection_to(gang); !why.empty())
        return Refuse{why};
    return Submit{};
}

Action bind_or_renew(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    if (gang.bind_overdue)
        return Renew{job.ref, job.tag.generation + 1,
                     "the Pods could not be bound in time"};
    auto placement = place(gang, job, nodes);
    if (!placement)
        return Renew{job.ref, job.tag.generation + 1,
                     placement.error().message};
    return Bind{job.ref, *placement};
}

Action with_allocated_job(const Gang &gang, const NodeMap &nodes)
{
    const JobRef job = gang.job->ref;
    if (gang.pods.empty())
        return Cancel{job};
    if (all_over(gang)) {
        bool by_user = std::ranges::any_of(
            gang.pods, [](const PodPtr &pod) { return pod->deleting; });
        if (by_user)
            return Cancel{job};
        End end = end_of(gang);
        return Complete{job, end.status, end.why};
    }
    if (gang.job->state == JobState::suspended)
        return Wait{};
    if (all_vanishing(gang) || bound_by_others(gang))
        return Cancel{job};
    if (any_waiting(gang))
        return bind_or_renew(gang, nodes);
    if (gang.prolog_held)
        return Start{job};
    return Wait{};
}

// Slurm says that somebody ended the job on purpose, or that its time is over. A
// node that failed, a job that had to give way, or one that was refused when it
// was submitted (FAILED) says nothing of the kind.
bool ended_on_purpose(JobState state)
{
    return state == JobState::cancelled || state == JobState::deadline ||
           state == JobState::completed;
}

Action for_waiting_pods(const Gang &gang)
{
    const Job &job = *gang.job;
    if (generation_of(gang) > job.tag.generation) {
        if (gang.submit_uncertain)
            return Find{};
        return Submit{};
    }
    if (ended_on_purpose(job.state))
        return FailPods{job.ref, job.state};
    return Renew{job.ref, job.tag.generation + 1, state_name(job.state)};
}

Action with_ended_job(const Gang &gang)
{
    const Job &job = *gang.job;
    auto lives = [&](const PodPtr &pod) { return lives_by_job(gang, *pod); };
    if (std::ranges::any_of(gang.pods, lives)) {
        // A slurmctld that forgot its nodes fails every job on them: that says
        // nothing about the Pods.
        if (all_ending(gang) || job.state == JobState::node_fail)
            return Wait{};
        return EndPods{job.ref, job.state};
    }
    if (gang.epilog_held) // no container of this job lives
        return Clean{job.ref};
    if (any_bound(gang)) // by a job that Slurm has lost
        return Wait{};
    if (any_waiting(gang))
        return for_waiting_pods(gang);
    if (all_over(gang))
        return Forget{};
    return Wait{}; // unbound and deleted: it goes at once
}

} // namespace

Action decide(const Gang &gang, const NodeMap &nodes)
{
    if (!gang.job)
        return without_job(gang);
    if (gang.stale)
        return Look{gang.job->ref};
    if (is_ended(gang.job->state))
        return with_ended_job(gang);
    if (is_allocated(gang.job->state))
        return with_allocated_job(gang, nodes);
    if (gang.job->state == JobState::pending && !any_waiting(gang))
        return Cancel{gang.job->ref};
    return Wait{};
}

const char *action_name(const Action &action)
{
    return action_name(action.index());
}

const char *action_name(std::size_t index)
{
    static constexpr const char *names[] = {
        "wait",  "forget",   "submit", "find",  "refuse",   "look",     "bind",
        "start", "complete", "cancel", "renew", "end_pods", "fail_pods", "clean"};
    static_assert(std::size(names) == std::variant_size_v<Action>);
    return names[index];
}

} // namespace bridge
