// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/decide.h"

#include "agent/decide/decide_batch.h"
#include "agent/decide/decide_batch_gang.h"
#include "agent/decide/decide_gang.h"
#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/decide/translate.h"
#include "agent/gang/facts.h"
#include "agent/gang/volumes.h"
#include "common/contract/names.h"

#include <algorithm>

namespace bridge {

namespace {

// Returns the Slurm node of the running Pods; empty: there is none.
std::string slurm_node_under(const Gang &gang, const NodeMap &nodes)
{
    std::string under;
    for (const PodPtr &pod : gang.pods)
        if (pod->living())
            under = pod->node_name;
    auto known = std::ranges::find(nodes, under, &NodeMap::value_type::second);
    return known == nodes.end() ? std::string() : known->first;
}

// Running Pods without a job are never killed: they get a new job where they
// are.
Decision adopt(const Gang &gang, const NodeMap &nodes)
{
    if (gang.submit_uncertain)
        return Find{};
    std::string node = slurm_node_under(gang, nodes);
    if (!bound_by_us(gang) || all_told_to_end(gang) || node.empty())
        return Wait{};
    return Adopt{node, generation_of(gang) + 1};
}

Decision without_job(const Gang &gang, const NodeMap &nodes)
{
    if (gang.submit_uncertain)
        return Find{};
    if (all_over(gang))
        return Forget{};
    if (any_bound(gang))
        return adopt(gang, nodes);
    if (!any_waits(gang))
        return Wait{};
    return submit_or_wait(gang);
}

Decision bind_or_renew(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    if (gang.bind_overdue)
        return Renew{job.ref, job.tag.generation + 1,
                     "the Pods could not be bound in time"};
    if (std::string reason = long_grace_reason(gang); !reason.empty())
        return Renew{job.ref, job.tag.generation + 1, reason};
    if (!gang.placement.misplaced_reason.empty())
        return Renew{job.ref, job.tag.generation + 1,
                     gang.placement.misplaced_reason};
    if (!gang.claims.uncounted_reason.empty())
        return Renew{job.ref, job.tag.generation + 1,
                     gang.claims.uncounted_reason};
    if (gang.volumes && !gang.volumes->misfit.empty())
        return Renew{job.ref, job.tag.generation + 1, gang.volumes->misfit};
    auto placement = place(gang, job, nodes);
    if (!placement)
        return Renew{job.ref, job.tag.generation + 1,
                     placement.error().message};
    if (!claims_bound(gang))
        return BindVolumes{
            job.ref,
            {{.pod = gang.pods.front()->uid, .node = placement->front()}}};
    if (has_resource_claims(gang))
        return bind_with_devices(gang, *placement);
    return Bind{job.ref, *placement};
}

// The job was submitted with a feature that only the Pods' node has, but an
// administrator may have changed it since.
Action restamp(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    std::string node = slurm_node_under(gang, nodes);
    if (job.nodes == std::vector<std::string>{node})
        return Restamp{job.ref, node};
    return Cancel{job.ref};
}

Decision with_allocated_job(const Gang &gang, const NodeMap &nodes)
{
    const JobRef job = gang.job->ref;
    if (gang.pods.empty() && !gang.failure)
        return Cancel{job};
    if (all_over(gang) && gang.unheard)
        return Look{job};
    if (all_over(gang))
        return complete_or_cancel(gang);
    if (auto step = step_for_uncounted(gang))
        return std::move(*step);
    if (gang.job->state == JobState::suspended)
        return resume_or_cancel(gang);
    if (all_vanishing(gang))
        return Cancel{job};
    // Nobody knows when its containers end: the Slurm user need not wait.
    if (!gang.lost_node_reason.empty() && all_deleting(gang))
        return end_with_node(gang, job);
    if (any_placed_elsewhere(gang))
        return adopt(gang, nodes);
    if (adopts(gang))
        return restamp(gang, nodes);
    if (bound_by_others(gang))
        return Cancel{job};
    if (any_waits(gang))
        return bind_or_renew(gang, nodes);
    if (gang.prolog_held)
        return Start{job};
    return Wait{};
}

Decision for_waiting_pods(const Gang &gang)
{
    const Job &job = *gang.job;
    if (generation_of(gang) > job.tag.generation) {
        if (gang.submit_uncertain)
            return Find{};
        return submit_if_placeable(gang);
    }
    if (ended_on_purpose(job.state))
        return FailPods{job.ref, job.state};
    return Renew{job.ref, job.tag.generation + 1, state_name(job.state)};
}

// Called while some of the Pods run.
Decision end_pods(const Gang &gang, const NodeMap &nodes)
{
    return only_forgotten(gang) ? adopt(gang, nodes) : end_or_wait(gang);
}

Decision with_ended_job(const Gang &gang, const NodeMap &nodes)
{
    const Job &job = *gang.job;
    if (any_lives_by_job(gang))
        return end_pods(gang, nodes);
    if (gang.epilog_held) // no container of this job lives
        return Clean{job.ref};
    if (any_bound(gang)) // by a job that Slurm has lost
        return adopt(gang, nodes);
    if (any_waits(gang))
        return for_waiting_pods(gang);
    if (all_over(gang))
        return Forget{};
    return Wait{}; // unbound and deleted: it disappears soon
}

Decision with_pending_job(const Gang &gang, const NodeMap &nodes)
{
    if (adopts(gang))
        return Wait{};
    if (any_waits(gang))
        return wait_in_queue(gang);
    if (any_lives_by_job(gang))
        return adopt(gang, nodes); // a crash lost the job's allocation
    // They ended before that was noticed, or before an adopting job was
    // allocated.
    auto ran = [](const PodPtr &pod) {
        return pod->terminal() && binder_of(*pod);
    };
    bool over = !gang.pods.empty() && std::ranges::all_of(gang.pods, ran);
    if (over || gang.failure)
        return as_lost(complete_or_cancel(gang));
    return Cancel{gang.job->ref};
}

Decision decide_alone(const Gang &gang, const NodeMap &nodes)
{
    return decide_by_job(
        {without_job, with_ended_job, with_allocated_job, with_pending_job},
        gang, nodes);
}

Decision decide_for_its_pods(const Gang &gang, const NodeMap &nodes)
{
    if (gang.batch)
        return decide_batch(gang, gang.grouped ? decide_batch_gang(gang, nodes)
                                               : decide_alone(gang, nodes));
    return gang.grouped ? decide_gang(gang, nodes) : decide_alone(gang, nodes);
}

// Whether this would end a job whose devices Pods of others still use.
// One that adopts running Pods, and has not become theirs, counts nothing yet.
bool ends_too_early(const Gang &gang, const Decision &decision)
{
    if (gang.claims.counts_for.empty() || !gang.job ||
        !is_allocated(gang.job->state))
        return false;
    return is_kind<Complete>(decision) ||
           (is_kind<Cancel>(decision) && !any_bound(gang));
}

} // namespace

Decision decide(const Gang &gang, const NodeMap &nodes)
{
    Decision decision = decide_for_its_pods(gang, nodes);
    if (ends_too_early(gang, decision))
        return Wait{};
    return decision;
}

} // namespace bridge
