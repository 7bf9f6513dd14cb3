// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs of sbatch, which exist before their Pods. Once such a job has its nodes,
// a worker thread makes the Pods and writes their uid into the job's tag; from
// then on the job is a gang like any other.
#include "agent/owner/bridge.h"

#include "agent/batch/make.h"
#include "agent/batch/srun.h"
#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_mark.h"
#include "agent/gang/batch_place.h"
#include "agent/nodes/words.h"
#include "common/base/log.h"
#include "common/base/wait_status.h"
#include "common/kube/text.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char batch_problem[] = "batch jobs";
constexpr char stuck_problem[] = "Pods of batch jobs";
constexpr std::chrono::seconds cleanup_pause{30};
// By then the agent has heard which jobs slurmctld has lost: the plugin says
// hello before it reports a job with nodes, and that makes the agent list all
// jobs and look up each job that is not listed.
constexpr auto settle_time = 2 * answer_time;
// How long a job of several nodes may hold some of its Pods when a quota has no
// room for all.
constexpr std::chrono::seconds part_time{30};
// By then slurmctld has saved what was written to a job. A tag that comes back
// after another crash must not name Pods that are gone, which would end the
// job.
constexpr std::chrono::seconds saved_time{10};
constexpr std::size_t max_comment_bytes =
    900; // bytes; Slurm takes 1024 in a comment

bool has_no_pod(const Job &job)
{
    return job.tag.uid.empty() && !job.tag.script.empty();
}

// The gang's Pods were made for other nodes than its job has now.
bool is_placed_anew(const Gang &known, const Job &job)
{
    Gang gang = known;
    gang.job = job;
    return is_made_for_others(gang);
}

} // namespace

BatchContext Bridge::batch_context()
{
    return {context_.ports.slurm,
            context_.conf,
            ScriptDir(context_.ports.scripts_dir),
            line_.cluster(),
            batch_taken_,
            srun_maps_,
            srun_context(),
            grace_.allowed()};
}

SrunContext Bridge::srun_context() const
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

// Returns true if this listed job does not belong to a gang yet. A crash of
// slurmctld loses what was written to a job within the last seconds; then the
// job's Pod says to which job it belongs.
bool Bridge::register_batch_job(Job &job,
                                const std::map<JobRef, GangTag> &bound)
{
    if (!has_no_pod(job))
        return false;
    // Slurm has refused a heterogeneous job, but kept a part of it.
    if (std::vector<Job> one{job}; !is_whole(job)) {
        batch_jobs_.drop(job.ref);
        drop_broken(one);
        return true;
    }
    GangEntry *entry = gangs_.find(job.ref);
    if (!is_allocated(job.state))
        batch_jobs_.drop(job.ref);
    else if (!entry || !is_placed_anew(entry->gang, job)) // else Remake does
        batch_jobs_.want(job.ref, context_.now); // or only the tag is written
    if (entry)
        job.tag = entry->gang.job->tag;
    else if (auto pod = bound.find(job.ref);
             pod != bound.end() && !is_ended(job.state)) {
        // the Pod does not have it
        std::uint32_t components = job.tag.components;
        job.tag = pod->second;
        job.tag.components = components;
    }
    return has_no_pod(job);
}

Clock::time_point Bridge::batch_deadline() const
{
    return batch_cleanup_failed_.empty()
               ? batch_jobs_.next_due()
               : std::min(batch_jobs_.next_due(), batch_cleanup_due_);
}

void Bridge::process_batch_jobs()
{
    if (!batch_jobs_.is_stuck(context_.now, context_.conf->bind_timeout))
        context_.health.solved(stuck_problem);
    if (!batch_jobs_.awaits_upgrade())
        context_.health.solved(newer_problem);
    if (batch_deadline() > context_.now)
        return;
    if (!batch_cleanup_failed_.empty() && batch_cleanup_due_ <= context_.now)
        for (auto &[uid, pod] : std::exchange(batch_cleanup_failed_, {}))
            clean_up_batch_pod(std::move(pod));
    // If rights are missing they are asked for again; the job waits meanwhile.
    bool may = context_.ports.access.may(Feature::sbatch);
    if (may)
        context_.health.solved(batch_problem);
    else if (context_.ports.access.answered())
        context_.health.problem(batch_problem,
                                "slurmk8sd lacks rights to run them as Pods: "
                                "see the features that are off");
    auto due = batch_jobs_.pop_due(context_.now);
    if (due.empty())
        return;
    BatchContext context = batch_context();
    for (JobRef job : due) {
        // A job that has lost its tag: Pods that are being bound must not be
        // deleted.
        GangEntry *known = gangs_.find(job);
        bool busy = known && known->gang.grouped && known->in_flight;
        if (!may || busy) {
            batch_jobs_.postpone(job, context_.now);
            continue;
        }
        bool late =
            batch_jobs_.is_late(job, context_.now, context_.conf->bind_timeout);
        context.settled = batch_jobs_.is_late(job, context_.now, settle_time);
        context.give_back = batch_jobs_.is_late(
            job, context_.now,
            std::min(part_time, context_.conf->bind_timeout / 2));
        errands_.ask(
            [job, late, context](Slurm &, Kube &kube) {
                return late ? make_late_batch_pod(job, kube, context)
                            : make_batch_pod(job, kube, context);
            },
            [this, job, began = line_.absences()](Result<Job> &now) {
                batch_pod_made(job, now, began);
            });
    }
}

void Bridge::batch_pod_made(JobRef ref, Result<Job> &now, unsigned began)
{
    context_.health.count_action("make_pod",
                                 now ? "ok" : code_name(now.error().code));
    auto said = batch_jobs_.finish(ref);
    if (!now) {
        const Error &error = now.error();
        log_warning("a batch job has no Pod yet",
                    {{"JobId", ref.id}, {"err", error.message}});
        if (said != BatchTable::Try::counts)
            return; // it was made for the job's former state
        if (error.code == Code::not_found)
            batch_jobs_.drop(ref);
        else if (error.code == Code::newer)
            await_upgrade(ref, error.message);
        else if (!batch_jobs_.retry(ref, context_.now,
                                    context_.conf->bind_timeout,
                                    error.retry_after) ||
                 error.code == Code::rejected)
            fail_batch_job(ref, error.message);
        else if (batch_jobs_.is_stuck(context_.now,
                                      context_.conf->bind_timeout))
            context_.health.problem(stuck_problem,
                                    "none can be made: " + error.message);
        return;
    }
    if (!now->tag.uid.empty())
        batch_jobs_.record_made(context_.now);
    if (said == BatchTable::Try::again)
        return;                         // its Pod will be read
    bool lives = batch_jobs_.drop(ref); // otherwise it has ended since
    Job &job = *now;
    if (job.tag.uid.empty())
        return; // it has lost its nodes, or has ended
    log_info("made the Pod of a batch job",
             {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    GangEntry *known = gangs_.find(job.tag.uid);
    if (known && !known->in_flight && known->gang.job &&
        known->gang.job->ref == job.ref) { // a list came first
        known->gang.stale = true;
        return agenda_.wake(known->gang.uid);
    }
    if (known && (known->in_flight || known->gang.job))
        return lists_.list_soon();
    GangEntry &entry = known ? *known : gangs_.adopt(job.tag, context_.now);
    entry.heard = began;
    set_job(entry, std::move(job));
    if (!lives || began != line_.absences())
        entry.gang.stale = true;
    agenda_.wake(entry.gang.uid);
}

// Never fails the job: it is as good as any once slurmk8sd is upgraded.
void Bridge::await_upgrade(JobRef job, const std::string &reason)
{
    batch_jobs_.wait_for_upgrade(job, context_.now);
    context_.health.problem(
        newer_problem,
        "they wait without Pods until slurmk8sd is upgraded: " + reason);
}

// The tag shows that the job has no Pod any more. The plugin does not repeat
// that the job's prolog is held, so that is remembered here.
void Bridge::record_remade(GangEntry &entry, JobRef job)
{
    log_warning("Slurm has placed a batch job again: its Pods are recreated",
                {{"JobId", job.id}, {"Gang", entry.gang.key.str()}});
    bool held = entry.gang.prolog_held;
    set_job(entry, std::nullopt);
    if (held)
        early_hooks_[job] = {{.type = HookMessage::Type::allocated,
                              .job = job,
                              .ours = true,
                              .batch = true},
                             context_.now};
    batch_jobs_.want(job, context_.now + saved_time);
}

// To the job's user this looks like a job whose launch failed.
void Bridge::fail_batch_job(JobRef job, const std::string &reason)
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

// The Pod is over or does not exist, and the job has ended.
void Bridge::clean_up_batch(const Gang &gang)
{
    if (context_.ports.scripts_dir.empty() || !gang.batch)
        return;
    for (const PodPtr &pod : gang.pods)
        if (!is_worker(*pod) && batch_cleaned_up_.insert(pod->uid).second)
            clean_up_batch_pod(pod);
}

void Bridge::clean_up_batch_pod(PodPtr pod)
{
    auto mark = batch_mark(*pod);
    if (mark && mark->array)
        batch_being_cleaned_up_[pod->uid] = mark->script;
    errands_.ask(
        [pod, scripts = ScriptDir(context_.ports.scripts_dir)](Slurm &,
                                                               Kube &kube) {
            return bridge::clean_up_batch_pod(*pod, kube, scripts);
        },
        [this, pod](const Result<> &done) {
            if (done) {
                batch_being_cleaned_up_.erase(pod->uid);
                return;
            }
            log_warning(
                "cannot delete the Secret or script of a batch job, "
                "will retry in 30 s",
                {{"Pod", pod->key.str()}, {"err", done.error().message}});
            batch_cleanup_failed_[pod->uid] = pod;
            batch_cleanup_due_ = context_.now + cleanup_pause;
        });
}

// uid is that of a Pod, whose Secret is deleted with it, or of a gang.
void Bridge::forget_batch_pod(const std::string &uid)
{
    batch_waits_.erase(uid);
    batch_starts_.erase(uid);
    batch_ends_.erase(uid);
    batch_hosts_.erase(uid);
    batch_cleaned_up_.erase(uid);
}

void Bridge::sweep_scripts(const std::vector<Job> &jobs)
{
    batch_living_.clear();
    batch_listed_ = lists_.asked();
    ScriptSweep::Named named{.asked = lists_.asked()};
    for (const Job &job : jobs) {
        if (job.tag.script.empty())
            continue;
        (is_ended(job.state) ? named.ended : named.living)
            .insert(job.tag.script);
        if (!is_ended(job.state))
            batch_living_.insert(job.ref);
    }
    batch_scripts_ = named.living;
    if (context_.ports.scripts_dir.empty())
        return;
    // While a Pod is known, its Secret must be deleted first.
    for (const auto &[uid, entry] : gangs_.all())
        if (auto mark = mark_of(entry.gang))
            named.living.insert(mark->script);
    for (const auto &[uid, script] : batch_being_cleaned_up_)
        named.living.insert(script);
    errands_.run([this, scripts = ScriptDir(context_.ports.scripts_dir),
                  named = std::move(named), now = context_.now](Slurm &) {
        if (auto done = script_sweep_.sweep(scripts, named, now); !done)
            log_warning("cannot delete old scripts of batch jobs, will retry",
                        {{"err", done.error().message}});
    });
}

} // namespace bridge
