// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's jobs: they are there before their Pods. Once such a job has its node a
// worker makes the Pod and writes its uid into the job's tag; from then on it is
// a gang like any other.
#include "agent/bridge.h"

#include "agent/act_batch.h"
#include "agent/batch_job.h"
#include "common/log.h"

namespace bridge {

namespace {

constexpr char batch_problem[] = "batch jobs";
constexpr int exit_1 = 1 << 8; // as wait(2) gives it

bool has_no_pod(const Job &job)
{
    return job.tag.uid.empty() && !job.tag.script.empty();
}

} // namespace

BatchContext Bridge::batch_context() const
{
    return {ports_.slurm, conf_, ScriptDir(ports_.scripts_dir), cluster_};
}

// The tags of batch jobs that have bound a Pod, as those say. Of one that is not
// bound the Secret may not be there yet.
std::map<JobRef, GangTag> Bridge::bound_batch_pods() const
{
    std::map<JobRef, GangTag> tags;
    for (const auto &[uid, entry] : gangs_.all()) {
        const Gang &gang = entry.gang;
        if (gang.grouped || gang.pods.empty() ||
            gang.key.ns != conf_->batch_namespace)
            continue;
        const Pod &pod = *gang.pods.front();
        if (auto mark = batch_mark(pod); mark && pod.bound() && binder_of(pod))
            tags[mark->job] = {.gang = gang.key.str(),
                               .uid = uid,
                               .script = mark->script};
    }
    return tags;
}

// True: this listed job is no gang's yet. A crash of slurmctld loses what was
// written on it within the last seconds: then its Pod says whose it is.
bool Bridge::take_batch_job(Job &job, const std::map<JobRef, GangTag> &bound)
{
    if (!has_no_pod(job))
        return false;
    if (is_allocated(job.state))
        batch_jobs_.want(job.ref, now_); // or the tag alone is written
    else
        batch_jobs_.drop(job.ref);
    if (GangEntry *entry = gangs_.find(job.ref))
        job.tag = entry->gang.job->tag;
    else if (auto pod = bound.find(job.ref);
             pod != bound.end() && !is_ended(job.state))
        job.tag = pod->second;
    return has_no_pod(job);
}

void Bridge::tend_batch_jobs()
{
    if (batch_jobs_.next_due() > now_)
        return;
    // Rights that are missing are asked for again: the job waits meanwhile.
    bool may = ports_.access.may(Feature::sbatch);
    if (may)
        solved(batch_problem);
    else if (ports_.access.answered())
        problem(batch_problem, "slurmk8sd lacks rights to run them as Pods: "
                               "see the features that are off");
    for (JobRef job : batch_jobs_.take_due(now_)) {
        if (!may) {
            (void)batch_jobs_.retry(job, now_, conf_->bind_timeout);
            continue;
        }
        ports_.workers.push([this, job, context = batch_context(),
                             began = unsigned{absences_}](Kube &kube) {
            Result<Job> now = fail(Code::internal, "lost");
            try {
                now = make_batch_pod(job, kube, context);
            } catch (const std::exception &e) {
                now = fail(Code::internal, e.what());
            }
            mailbox_.push(BatchPodMade{job, std::move(now), began});
        });
    }
}

void Bridge::on(BatchPodMade &made)
{
    health_.count_action("make_pod",
                         made.now ? "ok" : code_name(made.now.error().code));
    if (!made.now) {
        const Error &error = made.now.error();
        log_warning("a batch job has no Pod yet",
                    {{"JobId", made.job.id}, {"err", error.message}});
        if (error.code == Code::not_found)
            batch_jobs_.drop(made.job);
        else if (!batch_jobs_.retry(made.job, now_, conf_->bind_timeout) ||
                 error.code == Code::rejected)
            fail_batch_job(made.job, error.message);
        return;
    }
    bool lives = batch_jobs_.drop(made.job); // else it has ended since
    Job &job = *made.now;
    if (job.tag.uid.empty())
        return; // it has lost its node, or has ended
    log_info("made the Pod of a batch job",
             {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    GangEntry *known = gangs_.find(job.tag.uid);
    if (known && (known->in_flight || known->gang.job))
        return list_jobs_soon();
    GangEntry &entry = known ? *known : gangs_.adopt(job.tag);
    entry.heard = made.began;
    set_job(entry, std::move(job));
    if (!lives || made.began != absences_)
        entry.gang.stale = true;
    wake(entry.gang.uid);
}

// As far as Slurm's user is concerned that is a job whose launch has failed.
void Bridge::fail_batch_job(JobRef job, const std::string &why)
{
    ports_.workers.push([&slurm = ports_.slurm, job, why](Kube &) {
        auto now = slurm.load(job);
        if (!now || !is_allocated(now->state))
            return; // else it would count as cancelled
        (void)slurm.set_comment(job, "no Pod could be made: " + why);
        (void)slurm.complete(job, exit_1);
    });
}

// A Pod that was made for a job, and has none: either the tag is about to name
// it, or that job is gone. Only a list that was made long after tells.
void Bridge::note_batch(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.batch_gone = false;
    auto mark = gang.grouped || gang.pods.empty() || gang.job
                    ? std::nullopt
                    : batch_mark(*gang.pods.front());
    if (!mark) {
        batch_waits_.erase(gang.uid);
        return;
    }
    auto since = batch_waits_.try_emplace(gang.uid, now_).first->second;
    auto due = since + conf_->orphan_grace;
    if (now_ < due)
        return wake_at(entry, due);
    if (batch_listed_ < due) {
        if (jobs_asked_ < due)
            list_jobs_soon();
        return;
    }
    gang.batch_gone = !batch_living_.contains(mark->job);
}

// The Pod is over, or there is none, and so is its job. Elsewhere users may have
// written the mark.
void Bridge::tidy_batch(const Gang &gang)
{
    batch_waits_.erase(gang.uid);
    if (ports_.scripts_dir.empty() || gang.grouped ||
        gang.key.ns != conf_->batch_namespace)
        return;
    for (const PodPtr &pod : gang.pods)
        if (batch_mark(*pod))
            ports_.workers.push([pod, scripts = ScriptDir(ports_.scripts_dir)](
                                    Kube &kube) {
                if (auto done = tidy_batch_pod(*pod, kube, scripts); !done)
                    log_warning("what a batch job left is still there",
                                {{"Pod", pod->key.str()},
                                 {"err", done.error().message}});
            });
}

void Bridge::sweep_scripts(const std::vector<Job> &jobs)
{
    batch_living_.clear();
    batch_listed_ = jobs_asked_;
    std::set<std::string> living, ended;
    for (const Job &job : jobs) {
        if (job.tag.script.empty())
            continue;
        (is_ended(job.state) ? ended : living).insert(job.tag.script);
        if (!is_ended(job.state))
            batch_living_.insert(job.ref);
    }
    if (ports_.scripts_dir.empty() || conf_->batch_namespace.empty())
        return;
    ports_.workers.push([scripts = ScriptDir(ports_.scripts_dir), living,
                         ended](Kube &) {
        if (auto done = bridge::sweep_scripts(scripts, living, ended); !done)
            log_warning("scripts of batch jobs are still there",
                        {{"err", done.error().message}});
    });
}

} // namespace bridge
