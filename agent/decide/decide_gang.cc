// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/decide_gang.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/gang_place.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

Action renew(const Gang &gang, const std::string &reason)
{
    return Renew{gang.job->ref, gang.job->tag.generation + 1, reason};
}

} // namespace

bool lives_by_lost_job(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return pod->living() && binder_of(*pod) && !lives_by_job(gang, *pod);
    });
}

Decision bind_ready(const Gang &gang, std::vector<Seat> seats)
{
    const Job &job = *gang.job;
    if (!has_resource_claims(gang))
        return Bind{job.ref, {}, std::move(seats)};
    if (!gang.devices)
        return Wait{};
    const GangDevices &devices = *gang.devices;
    const ClaimsPlan &plan = devices.plan;
    if (devices.unknown && devices.reason.empty())
        return Wait{};
    if (!devices.unfit_reason.empty())
        return Wait{not_bound_message(job.ref, devices.unfit_reason)};
    if (!devices.reason.empty())
        return Wait{devices.reason};
    bool some = count_of_job(gang) != 0;
    if (!some && !plan.misfit.empty())
        return renew(gang, plan.misfit);
    std::size_t all = seats.size();
    std::erase_if(seats, [&](const Seat &seat) {
        return devices.not_now.contains(seat.pod);
    });
    if (seats.empty() || (!some && seats.size() < all))
        return Wait{not_bound_message(
            job.ref, plan.misfit.empty() ? plan.wait : plan.misfit)};
    return Bind{job.ref, {}, std::move(seats), plan.claims};
}

namespace {

Decision without_job(const Gang &gang, const NodeMap &)
{
    if (gang.submit_uncertain)
        return Find{};
    if (gang.pods.empty())
        return Forget{};
    if (lives_by_lost_job(gang))
        return Split{};
    return any_waits(gang) ? submit_or_wait(gang) : Wait{};
}

// Why a job by which no Pod is bound yet is not suitable for the waiting Pods;
// empty: it is.
std::string unfit_job_reason(const Gang &gang)
{
    if (!gang.no_group_reason.empty())
        return gang.no_group_reason;
    if (of_former_group(gang))
        return former_group_message(gang);
    if (!enough_wait(gang))
        return incomplete_gang_message(gang);
    if (!asked_for_these(gang, *gang.job))
        return "other Pods of the gang exist now";
    if (gang.job->tasks != tasks_needed(gang))
        return "the number of Pods of the gang has changed";
    return {};
}

// Completes the job with the failure that was recorded first, because that Pod
// may be gone by now.
Action complete(const Gang &gang)
{
    const JobRef job = gang.job->ref;
    if (gang.failure)
        return Complete{job, gang.failure->status, gang.failure->reason};
    Gang ended = gang;
    ended.pods = last_of_job(gang);
    return ended.pods.empty() ? Action{Cancel{job}} : complete_or_cancel(ended);
}

Decision with_pending_job(const Gang &gang, const NodeMap &)
{
    if (any_lives_by_job(gang))
        return Split{};
    if (!any_waits(gang)) // they may have ended before this was noticed
        return count_of_job(gang) == 0 ? Cancel{gang.job->ref}
                                       : as_lost(complete(gang));
    if (gang.epilog_held)
        return Clean{gang.job->ref};
    if (gang.bind_overdue)
        return renew(gang, "not all of its components could be started");
    if (std::string reason = unfit_job_reason(gang); !reason.empty())
        return renew(gang, reason);
    return wait_in_queue(gang);
}

// Called when no Pod of the gang waits or runs any more.
Decision with_all_over(const Gang &gang)
{
    auto may_come_again = [&](const PodPtr &pod) {
        return pod->phase == "Failed" && !pod->owner.uid.empty() &&
               ended_by_job(gang, *pod);
    };
    bool again = gang.job->state == JobState::running &&
                 !gang.times.rejoin_over &&
                 std::ranges::any_of(gang.pods, may_come_again);
    if (again)
        return Wait{};
    return gang.unheard ? Action{Look{gang.job->ref}} : complete(gang);
}

// Counts certain bindings only: one of unknown outcome is tried again.
std::size_t count_bound(const Gang &gang)
{
    auto is_bound = [&](const PodPtr &pod) {
        return !waits(gang, *pod) &&
               (lives_by_job(gang, *pod) || ended_by_job(gang, *pod));
    };
    return static_cast<std::size_t>(std::ranges::count_if(gang.pods, is_bound));
}

bool enough_bound(const Gang &gang)
{
    std::size_t bound = count_bound(gang);
    return bound != 0 && bound + count_done_before(gang) >= gang.minimum;
}

// Called when too few Pods are bound, or none.
Decision bind_or_renew(const Gang &gang, const NodeMap &nodes)
{
    bool some = count_of_job(gang) != 0;
    if (!some)
        if (std::string reason = unfit_job_reason(gang); !reason.empty())
            return renew(gang, reason);
    if (gang.bind_overdue || (some && gang.times.short_overdue))
        return renew(gang, "the Pods could not be bound in time");
    if (!some && !gang.placement.misplaced_reason.empty())
        return renew(gang, gang.placement.misplaced_reason);
    if (!some && !gang.claims.uncounted_reason.empty())
        return renew(gang, gang.claims.uncounted_reason);
    if (!some && gang.volumes && !gang.volumes->misfit.empty())
        return renew(gang, gang.volumes->misfit);
    auto seats = seat_pods(gang, nodes);
    if (!seats)
        return some ? Decision{Wait{seats.error().message}}
                    : renew(gang, seats.error().message);
    if (!claims_bound(gang))
        return BindVolumes{gang.job->ref, *seats};
    return bind_ready(gang, *seats);
}

std::vector<std::string> uids_of_waiting(const Gang &gang)
{
    std::vector<std::string> uids;
    for (const PodPtr &pod : gang.pods)
        if (waits(gang, *pod))
            uids.push_back(pod->uid);
    return uids;
}

// Returns the seats of Pods that need not wait for volumes.
std::vector<Seat> without_claims(const Gang &gang, std::vector<Seat> seats)
{
    const PodsByUid pods = pods_by_uid(gang);
    std::erase_if(seats, [&](const Seat &seat) {
        PodPtr pod = find_pod(pods, seat.pod);
        return pod && !pod->claims.empty();
    });
    return seats;
}

// Running Pods are never touched for a Pod that comes late.
Decision join(const Gang &gang, const NodeMap &nodes)
{
    if (of_former_group(gang))
        return Wait{former_group_message(gang)};
    auto seats = seat_pods(gang, nodes);
    if (!seats && gang.elastic)
        return Split{uids_of_waiting(gang)};
    if (!seats)
        return Wait{no_seat_message(gang.job->ref, seats.error().message)};
    if (claims_bound(gang))
        return bind_ready(gang, *seats);
    auto ready = without_claims(gang, *seats);
    return ready.empty() ? Decision{BindVolumes{gang.job->ref, *seats}}
                         : bind_ready(gang, std::move(ready));
}

// Called when some Pods are bound and none waits.
Decision start_or_wait(const Gang &gang, bool enough)
{
    if (gang.prolog_held && enough)
        return Start{gang.job->ref};
    if (gang.prolog_held && gang.times.short_overdue)
        return renew(gang, "Pods of the gang are gone");
    return Wait{};
}

Decision with_allocated_job(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    bool lives = any_lives_by_job(gang);
    bool joins = !(job.state == JobState::running && of_former_group(gang));
    if (!lives && !(joins && any_waits(gang)))
        return with_all_over(gang);
    if (auto step = step_for_uncounted(gang))
        return std::move(*step);
    if (job.state == JobState::suspended)
        return resume_or_cancel(gang);
    // Nobody knows when its containers end: the Slurm user need not wait.
    if (!gang.lost_node_reason.empty() && all_deleting(gang))
        return end_with_node(gang, job.ref);
    if (any_placed_elsewhere(gang))
        return Split{};
    if (any_waits(gang) && job.cpus_on.size() != job.nodes.size() &&
        job.nodes.size() > 1)
        return Look{job.ref};
    if (any_waits(gang) && gang.devices && gang.devices->unread)
        return Look{job.ref};
    bool enough = enough_bound(gang);
    if (!any_waits(gang) || (gang.prolog_held && enough))
        return start_or_wait(gang, enough);
    return enough || job.state == JobState::running
               ? join(gang, nodes)
               : bind_or_renew(gang, nodes);
}

Decision for_waiting_pods(const Gang &gang)
{
    const Job &job = *gang.job;
    bool ran = count_of_job(gang) != 0;
    if (ran || !asked_for_these(gang, job) || of_former_group(gang) ||
        generation_of(gang) > job.tag.generation)
        return gang.submit_uncertain ? Find{} : submit_or_wait(gang);
    if (ended_on_purpose(job.state))
        return FailPods{job.ref, job.state};
    return renew(gang, state_name(job.state));
}

Decision with_ended_job(const Gang &gang, const NodeMap &)
{
    if (auto step = step_after_end(gang))
        return std::move(*step);
    if (any_waits(gang))
        return for_waiting_pods(gang);
    return gang.pods.empty() ? Decision{Forget{}} : Wait{};
}

} // namespace

std::optional<Decision> step_after_end(const Gang &gang)
{
    bool lives = any_lives_by_job(gang);
    if (lives && only_forgotten(gang))
        return Split{};
    if (!left_over(*gang.job).empty())
        return Cancel{gang.job->ref};
    if (lives)
        return end_or_wait(gang);
    if (gang.epilog_held) // no container of this job lives
        return Clean{gang.job->ref};
    if (lives_by_lost_job(gang))
        return Split{};
    return std::nullopt;
}

Decision decide_gang(const Gang &gang, const NodeMap &nodes)
{
    return decide_by_job(
        {without_job, with_ended_job, with_allocated_job, with_pending_job},
        gang, nodes);
}

} // namespace bridge
