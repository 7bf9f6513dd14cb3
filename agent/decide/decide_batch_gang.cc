// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/decide_batch_gang.h"

#include "agent/decide/batch_gang.h"
#include "agent/decide/decide_gang.h"
#include "agent/decide/decide_parts.h"
#include "agent/gang/facts.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

Action renew(const Gang &gang, const std::string &reason)
{
    return Renew{gang.job->ref, gang.job->tag.generation + 1, reason};
}

Decision without_job(const Gang &gang, const NodeMap &)
{
    if (lives_by_lost_job(gang))
        return Split{};
    if (auto step = step_for_left(gang))
        return std::move(*step);
    if (any_waits(gang))
        return Submit{};
    return all_over(gang) ? Decision{Forget{}} : Decision{Wait{}};
}

// What was seen before counts, because the Pod may be gone since.
std::optional<Action> end_of_job(const Gang &gang)
{
    const JobRef job = gang.job->ref;
    std::optional<BatchEnd> end;
    if (gang.failure)
        end = BatchEnd{*gang.failure, false, gang.failed_pod};
    else
        end = end_of_batch(gang);
    if (!end)
        return std::nullopt;
    if (gang.unheard)
        return Look{job};
    if (end->by_user)
        return Cancel{job};
    return Complete{job, end->end.status, end->end.reason};
}

bool any_deleting(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [](const PodPtr &pod) {
        return pod->living() && pod->deleting;
    });
}

// While the devices of a worker cannot be had, the script waits, too.
Decision bind_script_last(const Gang &gang, std::vector<Seat> seats)
{
    std::size_t all = seats.size();
    Decision decision = bind_ready(gang, std::move(seats));
    const auto *ready = as_kind<Bind>(decision);
    PodPtr script = script_pod_of(gang);
    if (!ready || !script || ready->seats.size() == all)
        return decision;
    Bind bind = *ready;
    std::erase_if(bind.seats,
                  [&](const Seat &seat) { return seat.pod == script->uid; });
    return bind.seats.empty() ? Decision{Wait{}} : Decision{std::move(bind)};
}

Decision bind_or_renew(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    bool some = count_of_job(gang) != 0;
    if (gang.bind_overdue)
        return renew(gang, "the Pods could not be bound in time");
    if (!is_whole(gang))
        return Wait{};
    if (!some && !gang.placement.misplaced_reason.empty())
        return renew(gang, gang.placement.misplaced_reason);
    if (!some && gang.volumes && !gang.volumes->misfit.empty())
        return renew(gang, gang.volumes->misfit);
    if (job.cpus_on.size() != job.nodes.size())
        return Look{job.ref};
    if (gang.devices && gang.devices->unread)
        return Look{job.ref};
    auto seats = seat_batch_pods(gang, nodes);
    if (!seats)
        return renew(gang, seats.error().message);
    if (!claims_bound(gang))
        return BindVolumes{job.ref, *seats};
    return bind_script_last(gang, std::move(*seats));
}

Decision with_allocated_job(const Gang &gang, const NodeMap &nodes)
{
    const JobRef job = gang.job->ref;
    if (lives_by_lost_job(gang))
        return Split{};
    if (auto end = end_of_job(gang))
        return std::move(*end);
    if (gang.job->state == JobState::suspended)
        return resume_or_cancel(gang);
    if (is_made_for_others(gang))
        return Remake{job};
    // Nobody knows when its containers end: the Slurm user need not wait.
    if (!gang.lost_node_reason.empty() && any_deleting(gang))
        return end_with_node(gang, job);
    if (any_placed_elsewhere(gang) || gang.of_batch.scattered)
        return Split{};
    if (any_waits(gang))
        return bind_or_renew(gang, nodes);
    if (gang.prolog_held && is_whole(gang))
        return Start{job};
    return Wait{};
}

Decision with_ended_job(const Gang &gang, const NodeMap &)
{
    if (auto step = step_after_end(gang))
        return std::move(*step);
    if (any_waits(gang))
        return FailPods{gang.job->ref, gang.job->state};
    return all_over(gang) ? Decision{Forget{}} : Decision{Wait{}};
}

Decision with_pending_job(const Gang &gang, const NodeMap &)
{
    if (any_lives_by_job(gang) || lives_by_lost_job(gang))
        return Split{};
    if (auto step = step_for_left(gang))
        return std::move(*step);
    return Wait{};
}

} // namespace

Decision decide_batch_gang(const Gang &gang, const NodeMap &nodes)
{
    return decide_by_job(
        {without_job, with_ended_job, with_allocated_job, with_pending_job},
        gang, nodes);
}

} // namespace bridge
