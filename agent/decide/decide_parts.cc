// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/decide_parts.h"

#include "agent/decide/end_status.h"
#include "agent/decide/messages.h"
#include "agent/decide/translate.h"
#include "agent/gang/facts.h"
#include "agent/gang/volumes.h"
#include "common/base/wait_status.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"
#include "common/slurm/gres_counts.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <ranges>

namespace bridge {

namespace {

bool claims_unread(const Gang &gang)
{
    return has_claims(gang) && !gang.volumes;
}

// Whether the job requests other nodes than the Pods do now: tolerations may be
// added to a waiting Pod, a claim may have been bound, or another version of
// the agent may have submitted the job.
bool asks_otherwise(const Gang &gang)
{
    const std::string &features = gang.job->features;
    if (claims_unread(gang) || (gang.volumes && !gang.volumes->reason.empty()))
        return false; // their possible places are unknown
    if (gang.batch && features.contains(names::batch_feature))
        return false; // whatever the template tolerates now
    return features.contains(names::predicate_prefix) &&
           !features.contains(value_of(gang.placement.predicate).feature());
}

// Returns a message if too few Pods exist, else "".
std::string incomplete_reason(const Gang &gang)
{
    if (gang.grouped)
        return enough_wait(gang) ? "" : incomplete_gang_message(gang);
    if (gang.pods.size() >= gang.size)
        return {};
    return std::to_string(gang.pods.size()) + " of " +
           std::to_string(gang.size) + " Pods exist";
}

// Returns what has to be done for its ResourceClaims before a job can be
// requested, or nothing.
std::optional<Decision> step_for_devices(const Gang &gang)
{
    if (!has_resource_claims(gang))
        return std::nullopt;
    if (!gang.devices)
        return Wait{}; // until claims are listed
    if (auto step = step_for_left(gang))
        return step;
    if (!gang.devices->unfit_reason.empty())
        return Refuse{gang.devices->unfit_reason};
    if (!gang.devices->reason.empty())
        return Wait{gang.devices->reason};
    return std::nullopt;
}

// Compares types only if both sides name one: while a driver is away its types
// cannot be told apart, and the job need not leave the queue for that.
bool other_gres(const std::string &has, const std::string &wants)
{
    auto is_total = [](const auto &kind) { return !kind.first.contains(':'); };
    auto had = asked_gres(has), wanted = asked_gres(wants);
    auto types = [&](const auto &counts) {
        return !std::ranges::all_of(counts, is_total);
    };
    if (types(had) && types(wanted))
        return had != wanted;
    std::erase_if(had, std::not_fn(is_total));
    std::erase_if(wanted, std::not_fn(is_total));
    return had != wanted;
}

} // namespace

std::optional<Action> step_for_left(const Gang &gang)
{
    if (!gang.devices || gang.devices->left.empty())
        return std::nullopt;
    return ReleaseClaims{gang.devices->left};
}

std::optional<Action> step_for_uncounted(const Gang &gang)
{
    if (gang.claims.uncounted_reason.empty() || !any_lives_by_job(gang))
        return std::nullopt;
    return Cancel{gang.job->ref, gang.claims.uncounted_reason};
}

bool has_resource_claims(const Gang &gang)
{
    return std::ranges::any_of(
        gang.pods, [](const PodPtr &pod) { return pod->needs_devices(); });
}

Decision bind_with_devices(const Gang &gang, std::vector<std::string> nodes)
{
    const Job &job = *gang.job;
    if (!gang.devices)
        return Wait{};
    const GangDevices &devices = *gang.devices;
    if (devices.unknown && devices.reason.empty())
        return Wait{};
    if (devices.unread)
        return Look{job.ref};
    if (!devices.plan.misfit.empty())
        return Renew{job.ref, job.tag.generation + 1, devices.plan.misfit};
    if (!devices.unfit_reason.empty())
        return Wait{not_bound_message(job.ref, devices.unfit_reason)};
    if (!devices.reason.empty())
        return Wait{devices.reason};
    if (!devices.plan.wait.empty())
        return Wait{not_bound_message(job.ref, devices.plan.wait)};
    return Bind{job.ref, std::move(nodes), {}, devices.plan.claims};
}

bool claims_bound(const Gang &gang)
{
    return !has_claims(gang) || (gang.volumes && gang.volumes->reason.empty() &&
                                 !gang.volumes->unbound);
}

Decision submit_or_wait(const Gang &gang)
{
    if (auto step = step_for_left(gang))
        return std::move(*step);
    if (!gang.no_group_reason.empty())
        return Wait{gang.no_group_reason};
    if (!gang.unfit_reason.empty())
        return Refuse{gang.unfit_reason};
    if (std::string reason = incomplete_reason(gang); !reason.empty())
        return Wait{reason};
    if (gang.times.may_refill)
        return Wait{};
    for (const PodPtr &pod : gang.pods)
        if (pod->gated)
            return Wait{}; // the API server reports this on the Pod
    if (std::string reason = unfit_reason(gang); !reason.empty())
        return Refuse{reason};
    return submit_if_placeable(gang);
}

Decision submit_if_placeable(const Gang &gang)
{
    if (std::string reason = long_grace_reason(gang); !reason.empty())
        return Refuse{reason};
    if (auto step = step_for_devices(gang))
        return std::move(*step);
    if (!gang.placement.nowhere.empty())
        return Wait{gang.placement.nowhere};
    if (claims_unread(gang))
        return LookVolumes{};
    if (gang.volumes && !gang.volumes->reason.empty())
        return Wait{gang.volumes->reason};
    return Submit{};
}

// The job starts as soon as some node gets its feature. Slurm holds a job for
// good if its preference cannot be satisfied at all: schedule() in Slurm's
// job_scheduler.c.
Decision wait_in_queue(const Gang &gang)
{
    const Job &job = *gang.job;
    // It was requested when a longer one was allowed. Then it is refused.
    if (std::string reason = long_grace_reason(gang); !reason.empty())
        return Renew{job.ref, job.tag.generation + 1, reason};
    if (claims_unread(gang) && gang.placement.nowhere.empty())
        return LookVolumes{};
    if (auto step = step_for_devices(gang))
        return std::move(*step);
    // The user of a batch job requested its GRES, and its Pod was created for
    // what the job got.
    if (gang.devices && !gang.batch &&
        other_gres(job.gres_per_task, gang.devices->gres))
        return Renew{job.ref, job.tag.generation + 1,
                     "the devices that its claims need have changed"};
    if (asks_otherwise(gang))
        return Renew{job.ref, job.tag.generation + 1,
                     "the Pod's node requirements have changed"};
    if (job.prefers && job.reason == "BadConstraints" &&
        gang.placement.nowhere.empty())
        return Renew{job.ref, job.tag.generation + 1,
                     "no node satisfies its preference"};
    return Wait{gang.placement.nowhere};
}

Action end_with_node(const Gang &gang, JobRef job)
{
    return Complete{job, exit_1, "NodeLost: " + gang.lost_node_reason};
}

Action complete_or_cancel(const Gang &gang)
{
    const JobRef job = gang.job->ref;
    if (gang.failure) // seen before the Pod was deleted
        return Complete{job, gang.failure->status, gang.failure->reason};
    bool by_user = std::ranges::any_of(gang.pods, [](const PodPtr &pod) {
        return pod->deleting && pod->disruption.empty();
    });
    if (by_user)
        return Cancel{job};
    End end = end_of(gang);
    return Complete{job, end.status, end.reason};
}

// A pending job gets no exit code in Slurm: it becomes CANCELLED, with a
// comment.
Action as_lost(Action end)
{
    if (auto *complete = std::get_if<Complete>(&end))
        complete->reason =
            lost_allocation_message(complete->status, complete->reason);
    return end;
}

Decision end_or_wait(const Gang &gang)
{
    const Job &job = *gang.job;
    if (all_deleting_in_time(gang) ||
        (all_end_in_time(gang) && !gang.grace.end_overdue))
        return Wait{};
    return EndPods{job.ref, job.state, gang.grace.end_overdue};
}

Action resume_or_cancel(const Gang &gang)
{
    const Job &job = *gang.job;
    if (job.resumed)
        return Cancel{job.ref, suspended_again_comment()};
    return ResumeJob{job.ref};
}

Decision decide_by_job(const ByJob &answers, const Gang &gang,
                       const NodeMap &nodes)
{
    if (!gang.job)
        return answers.without_job(gang, nodes);
    if (gang.stale)
        return Look{gang.job->ref};
    if (is_ended(gang.job->state))
        return answers.ended(gang, nodes);
    if (is_allocated(gang.job->state))
        return answers.allocated(gang, nodes);
    if (gang.job->state != JobState::pending)
        return Wait{};
    return answers.pending(gang, nodes);
}

bool only_forgotten(const Gang &gang)
{
    bool node_failed = gang.node_down || !gang.lost_node_reason.empty();
    return gang.job->state == JobState::node_fail && !node_failed;
}

bool ended_on_purpose(JobState state)
{
    return state == JobState::cancelled || state == JobState::deadline ||
           state == JobState::completed;
}

} // namespace bridge
