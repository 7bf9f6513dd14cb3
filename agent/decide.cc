// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide.h"

#include "agent/translate.h"
#include "agent/words.h"
#include "common/names.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr int exit_1 = 1 << 8; // as wait(2) gives it

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

// Those that live are being deleted, by whomever.
bool all_deleting(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [](const PodPtr &pod) {
        return pod->terminal() || pod->deleting;
    });
}

bool all_told_to_end(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [](const PodPtr &pod) {
        return pod->terminal() || told_to_end(*pod);
    });
}

// A job of ours put all that live where they are.
bool bound_by_us(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [](const PodPtr &pod) {
        return !pod->living() || binder_of(*pod);
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

// The Slurm node under the Pods that live; empty: there is no such one.
std::string slurm_node_under(const Gang &gang, const NodeMap &nodes)
{
    std::string under;
    for (const PodPtr &pod : gang.pods)
        if (pod->living())
            under = pod->node_name;
    auto known = std::ranges::find(nodes, under, &NodeMap::value_type::second);
    return known == nodes.end() ? std::string() : known->first;
}

// Never kill: Pods that live and have no job get a new one where they are.
Action adopt(const Gang &gang, const NodeMap &nodes)
{
    if (gang.submit_uncertain)
        return Find{};
    std::string node = slurm_node_under(gang, nodes);
    if (!bound_by_us(gang) || all_told_to_end(gang) || node.empty())
        return Wait{};
    return Adopt{node, generation_of(gang) + 1};
}

bool has_claims(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [](const PodPtr &pod) {
        return !pod->claims.empty();
    });
}

bool claims_unread(const Gang &gang)
{
    return has_claims(gang) && !gang.volumes;
}

Action submit(const Gang &gang)
{
    if (!gang.nowhere.empty())
        return Wait{gang.nowhere};
    if (claims_unread(gang))
        return LookVolumes{};
    if (gang.volumes && !gang.volumes->why.empty())
        return Wait{gang.volumes->why};
    return Submit{};
}

Action without_job(const Gang &gang, const NodeMap &nodes)
{
    if (gang.submit_uncertain)
        return Find{};
    if (all_over(gang))
        return Forget{};
    if (any_bound(gang))
        return adopt(gang, nodes);
    if (!any_waiting(gang))
        return Wait{};
    if (gang.pods.size() < gang.size)
        return Wait{std::to_string(gang.pods.size()) + " of " +
                    std::to_string(gang.size) + " Pods exist"};
    for (const PodPtr &pod : gang.pods)
        if (pod->gated)
            return Wait{}; // the API server says so on the Pod
    if (std::string why = objection_to(gang); !why.empty())
        return Refuse{why};
    return submit(gang);
}

bool claims_bound(const Gang &gang)
{
    return gang.volumes && gang.volumes->why.empty() &&
           !gang.volumes->unbound;
}

Action bind_or_renew(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    if (gang.bind_overdue)
        return Renew{job.ref, job.tag.generation + 1,
                     "the Pods could not be bound in time"};
    if (!gang.misplaced.empty())
        return Renew{job.ref, job.tag.generation + 1, gang.misplaced};
    if (gang.volumes && !gang.volumes->misfit.empty())
        return Renew{job.ref, job.tag.generation + 1, gang.volumes->misfit};
    auto placement = place(gang, job, nodes);
    if (!placement)
        return Renew{job.ref, job.tag.generation + 1,
                     placement.error().message};
    if (has_claims(gang) && !claims_bound(gang))
        return BindVolumes{job.ref, placement->front()};
    return Bind{job.ref, *placement};
}

Action complete_or_cancel(const Gang &gang)
{
    const JobRef job = gang.job->ref;
    bool by_user = std::ranges::any_of(gang.pods, [](const PodPtr &pod) {
        return pod->deleting && pod->disruption.empty();
    });
    if (by_user)
        return Cancel{job};
    End end = end_of(gang);
    return Complete{job, end.status, end.why};
}

// Slurm gives a pending job no exit code: it becomes CANCELLED, with a comment.
Action complete_lost(const Gang &gang)
{
    Action action = complete_or_cancel(gang);
    if (auto *complete = std::get_if<Complete>(&action))
        complete->why = lost_allocation_words(complete->status, complete->why);
    return action;
}

// The job was asked for with a feature that only the Pods' node has, but an
// administrator may have changed it since.
Action restamp(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    std::string node = slurm_node_under(gang, nodes);
    if (job.nodes == std::vector<std::string>{node})
        return Restamp{job.ref, node};
    return Cancel{job.ref};
}

Action with_allocated_job(const Gang &gang, const NodeMap &nodes)
{
    const JobRef job = gang.job->ref;
    if (gang.pods.empty())
        return Cancel{job};
    if (all_over(gang) && gang.unheard)
        return Look{job};
    if (all_over(gang))
        return complete_or_cancel(gang);
    if (gang.job->state == JobState::suspended)
        return Wait{};
    if (all_vanishing(gang))
        return Cancel{job};
    // Nobody can say when its containers end: Slurm's user need not wait.
    if (!gang.node_lost.empty() && all_deleting(gang))
        return Complete{job, exit_1, "NodeLost: " + gang.node_lost};
    auto elsewhere = [&](const PodPtr &pod) {
        return placed_elsewhere(gang, *pod);
    };
    if (std::ranges::any_of(gang.pods, elsewhere))
        return adopt(gang, nodes);
    if (adopts(gang))
        return restamp(gang, nodes);
    if (bound_by_others(gang))
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
        return submit(gang);
    }
    if (ended_on_purpose(job.state))
        return FailPods{job.ref, job.state};
    return Renew{job.ref, job.tag.generation + 1, state_name(job.state)};
}

// Tolerations may be added to a Pod that waits; and a claim has been bound, or
// another version of the agent has asked.
bool asks_otherwise(const Gang &gang)
{
    const std::string &features = gang.job->features;
    if (gang.volumes && !gang.volumes->why.empty())
        return false; // where they can be is not known
    return features.contains(names::predicate_prefix) &&
           !features.contains(value_of(gang.predicate).feature());
}

// The job goes on as soon as some node gets its feature. One that has a
// preference is held for good where that cannot be had at all: schedule() in
// Slurm's job_scheduler.c.
Action wait_in_queue(const Gang &gang)
{
    const Job &job = *gang.job;
    if (claims_unread(gang) && gang.nowhere.empty())
        return LookVolumes{};
    if (asks_otherwise(gang))
        return Renew{job.ref, job.tag.generation + 1,
                     "what the Pod asks of its node has changed"};
    if (job.prefers && job.reason == "BadConstraints" && gang.nowhere.empty())
        return Renew{job.ref, job.tag.generation + 1,
                     "no node has what it prefers"};
    return Wait{gang.nowhere};
}

// Some of them live.
Action end_pods(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    // A slurmctld that forgot its nodes, partitions or GRES fails every job on
    // them: that says nothing about the Pods.
    bool node_failed = gang.node_down || !gang.node_lost.empty();
    if (job.state == JobState::node_fail && !node_failed)
        return adopt(gang, nodes);
    if (all_deleting(gang) || (all_told_to_end(gang) && !gang.end_overdue))
        return Wait{};
    return EndPods{job.ref, job.state, gang.end_overdue};
}

Action with_ended_job(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    auto lives = [&](const PodPtr &pod) { return lives_by_job(gang, *pod); };
    if (std::ranges::any_of(gang.pods, lives))
        return end_pods(gang, nodes);
    if (gang.epilog_held) // no container of this job lives
        return Clean{job.ref};
    if (any_bound(gang)) // by a job that Slurm has lost
        return adopt(gang, nodes);
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
        return without_job(gang, nodes);
    if (gang.stale)
        return Look{gang.job->ref};
    if (is_ended(gang.job->state))
        return with_ended_job(gang, nodes);
    if (is_allocated(gang.job->state))
        return with_allocated_job(gang, nodes);
    if (gang.job->state != JobState::pending || adopts(gang))
        return Wait{};
    if (any_waiting(gang))
        return wait_in_queue(gang);
    auto lives = [&](const PodPtr &pod) { return lives_by_job(gang, *pod); };
    if (std::ranges::any_of(gang.pods, lives))
        return adopt(gang, nodes); // a crash lost the job's allocation
    auto ran = [&](const PodPtr &pod) {
        return pod->terminal() && binder_of(*pod) == gang.job->ref;
    };
    if (!gang.pods.empty() && std::ranges::all_of(gang.pods, ran))
        return complete_lost(gang); // they ended before it was noticed
    return Cancel{gang.job->ref};
}

const char *action_name(const Action &action)
{
    return action_name(action.index());
}

const char *action_name(std::size_t index)
{
    static constexpr const char *names[] = {
        "wait",  "forget",   "submit",  "find",  "refuse", "look",
        "bind",  "start",    "complete", "cancel", "renew", "adopt",
        "restamp", "end_pods", "fail_pods", "clean", "look_volumes",
        "bind_volumes"};
    static_assert(std::size(names) == std::variant_size_v<Action>);
    return names[index];
}

} // namespace bridge
