// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/batch_jobs.h"

#include "agent/batch/srun.h"
#include "agent/nodes/words.h"
#include "agent/owner/job_lists.h"
#include "common/base/log.h"
#include "common/base/wait_status.h"
#include "common/kube/text.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char rights_missing[] = "batch jobs";
constexpr char stuck_problem[] = "Pods of batch jobs";
// By then the agent has heard which jobs slurmctld has lost: the plugin says
// hello before it reports a job with nodes, and that makes the agent list all
// jobs and look up each job that is not listed.
constexpr auto settle_time = 2 * answer_time;
// How long a job of several nodes may hold some of its Pods when a quota has no
// room for all.
constexpr std::chrono::seconds part_time{30};
// How long a script may be missing. It counts from the first attempt that does
// not find it, not from the submission: a job that waits for a node says
// nothing of a file system that has hung, and slurmctld writes its scripts once
// that works again.
constexpr std::chrono::minutes script_time{2};
// By then slurmctld has saved what was written to a job. A tag that comes back
// after another crash must not name Pods that are gone, which would end the
// job.
constexpr std::chrono::seconds saved_time{10};
// The lane of attempts at workers, of no namespace: that of a job's Pods is not
// known before the job is read.
constexpr char attempts_lane[] = "batch jobs";
constexpr std::size_t max_comment_bytes =
    900; // bytes; Slurm takes 1024 in a comment

} // namespace

void BatchJobs::want_once_saved(JobRef job)
{
    table_.want(job, context_.now + saved_time);
}

void BatchJobs::process()
{
    say_problems();
    if (next_due() > context_.now)
        return;
    // If rights are missing they are asked for again; the job waits meanwhile.
    bool may = context_.ports.access.may(Feature::sbatch);
    auto due = table_.pop_due(context_.now);
    if (due.empty())
        return;
    const BatchContext context = context_for_workers();
    for (JobRef job : due) {
        // A job that has lost its tag: Pods that are being bound must not be
        // deleted.
        GangEntry *known = gangs_.find(job);
        bool busy = known && known->gang.grouped && known->in_flight;
        if (!may || busy)
            table_.postpone(job, context_.now);
        else
            attempt(job, context);
    }
}

void BatchJobs::say_problems()
{
    Health &health = context_.health;
    if (!table_.is_stuck(context_.now, context_.conf->bind_timeout))
        health.solved(stuck_problem);
    if (!table_.awaits_upgrade())
        health.solved(newer_problem);
    if (next_due() > context_.now)
        return; // nobody needs the rights now
    if (context_.ports.access.may(Feature::sbatch))
        health.solved(rights_missing);
    else if (context_.ports.access.answered())
        health.problem(rights_missing,
                       "slurmk8sd lacks rights to run them as Pods: see the "
                       "features that are off");
}

void BatchJobs::attempt(JobRef job, BatchContext context)
{
    const auto patience = context_.conf->bind_timeout;
    bool late = table_.is_late(job, context_.now, patience);
    context.settled = table_.is_late(job, context_.now, settle_time);
    context.script_is_late = table_.is_missing(job, context_.now, script_time);
    context.give_back =
        table_.is_late(job, context_.now, std::min(part_time, patience / 2));
    errands_.tell_in(
        attempts_lane,
        [job, late, context](Slurm &, Kube &kube) {
            return late ? make_late_batch_pod(job, kube, context)
                        : make_batch_pod(job, kube, context);
        },
        [job, began = line_.absences()](Result<Job> now) {
            return BatchPodMade{job, std::move(now), began};
        });
}

BatchContext BatchJobs::context_for_workers() const
{
    return {context_.ports.slurm,
            context_.conf,
            ScriptDir(context_.ports.scripts_dir),
            line_.cluster(),
            caches_.taken,
            caches_.srun_maps,
            srun_context(),
            grace_.allowed()};
}

SrunContext BatchJobs::srun_context() const
{
    std::map<std::string, std::string> known;
    for (const auto &[name, node] : nodes_.all())
        known.emplace(slurm_name(*node), node->label(names::arch_label));
    return {context_.ports.srun,
            context_.ports.access.may(Feature::sbatch_srun),
            std::make_shared<const std::map<std::string, std::string>>(
                std::move(known)),
            context_.now};
}

std::optional<BatchJobs::Made> BatchJobs::take(BatchPodMade &made)
{
    context_.health.count_action(
        "make_pod", made.now ? "ok" : code_name(made.now.error().code));
    auto said = table_.finish(made.job);
    if (!made.now) {
        log_warning(
            "a batch job has no Pod yet",
            {{"JobId", made.job.id}, {"err", made.now.error().message}});
        if (said == BatchTable::Try::counts) // else: for its former state
            failed(made.job, made.now.error());
        return std::nullopt;
    }
    Job &job = *made.now;
    if (!job.tag.uid.empty())
        table_.record_made(context_.now);
    if (said == BatchTable::Try::again)
        return std::nullopt;            // its Pod will be read
    bool lives = table_.drop(made.job); // otherwise it has ended since
    if (job.tag.uid.empty())
        return std::nullopt; // it has lost its nodes, or has ended
    log_info("made the Pod of a batch job",
             {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    return Made{std::move(job), lives};
}

void BatchJobs::failed(JobRef job, const Error &error)
{
    const auto patience = context_.conf->bind_timeout;
    const bool missing = error.code == Code::gone; // its script
    table_.note_script(job, context_.now, missing);
    if (error.code == Code::not_found) {
        table_.drop(job);
    } else if (error.code == Code::newer) {
        // Never fails the job: it is as good as any once slurmk8sd is upgraded.
        table_.wait_for_upgrade(job, context_.now);
        context_.health.problem(
            newer_problem,
            "they wait without Pods until slurmk8sd is upgraded: " +
                error.message);
    } else if (bool goes_on =
                   table_.retry(job, context_.now, patience, error.retry_after);
               (!goes_on && !missing) || error.code == Code::rejected) {
        fail_job(job, error.message);
    } else if (table_.is_stuck(context_.now, patience)) {
        context_.health.problem(stuck_problem,
                                "none can be made: " + error.message);
    }
}

// To the job's user this looks like a job whose launch failed.
void BatchJobs::fail_job(JobRef job, const std::string &reason) const
{
    errands_.run([job, reason](Slurm &slurm) {
        auto now = slurm.load(job);
        if (!now || !is_allocated(now->state))
            return; // otherwise it would count as cancelled
        (void)slurm.set_comment(job, "no Pod could be made: " +
                                         clean_text(reason, max_comment_bytes));
        (void)slurm.complete(job, exit_1);
    });
}

} // namespace bridge
