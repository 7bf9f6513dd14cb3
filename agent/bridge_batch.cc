// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's jobs: they are there before their Pods. Once such a job has its node a
// worker makes the Pod and writes its uid into the job's tag; from then on it is
// a gang like any other.
#include "agent/bridge.h"

#include "agent/act_batch.h"
#include "agent/batch_job.h"
#include "agent/kube_text.h"
#include "common/log.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char batch_problem[] = "batch jobs";
constexpr char stuck_problem[] = "Pods of batch jobs";
constexpr std::chrono::seconds tidy_again{30};
constexpr std::size_t max_words = 900; // bytes; Slurm takes 1024 in a comment
constexpr int exit_1 = 1 << 8; // as wait(2) gives it

bool has_no_pod(const Job &job)
{
    return job.tag.uid.empty() && !job.tag.script.empty();
}

} // namespace

BatchContext Bridge::batch_context()
{
    return {ports_.slurm, conf_, ScriptDir(ports_.scripts_dir), cluster_,
            batch_taken_};
}

// Elsewhere users may have written it.
std::optional<BatchMark> Bridge::mark_of(const Gang &gang) const
{
    bool ours = !gang.grouped && !gang.pods.empty() &&
                is_batch_namespace(*conf_, gang.key.ns);
    return ours ? batch_mark(*gang.pods.front()) : std::nullopt;
}

// The tags of batch jobs that have bound a Pod, as those say. Of one that is not
// bound the Secret may not be there yet.
std::map<JobRef, GangTag> Bridge::bound_batch_pods() const
{
    std::map<JobRef, GangTag> tags;
    for (const auto &[uid, entry] : gangs_.all()) {
        auto mark = mark_of(entry.gang);
        if (!mark)
            continue;
        const Pod &pod = *entry.gang.pods.front();
        if (pod.bound() && binder_of(pod))
            tags[mark->job] = {.gang = entry.gang.key.str(),
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

Clock::time_point Bridge::batch_deadline() const
{
    return batch_untidy_.empty()
               ? batch_jobs_.next_due()
               : std::min(batch_jobs_.next_due(), batch_tidy_due_);
}

void Bridge::tend_batch_jobs()
{
    if (!batch_jobs_.is_stuck(now_, conf_->bind_timeout))
        solved(stuck_problem);
    if (batch_deadline() > now_)
        return;
    if (!batch_untidy_.empty() && batch_tidy_due_ <= now_)
        for (auto &[uid, pod] : std::exchange(batch_untidy_, {}))
            tidy_batch_pod(std::move(pod));
    // Rights that are missing are asked for again: the job waits meanwhile.
    bool may = ports_.access.may(Feature::sbatch);
    if (may)
        solved(batch_problem);
    else if (ports_.access.answered())
        problem(batch_problem, "slurmk8sd lacks rights to run them as Pods: "
                               "see the features that are off");
    for (JobRef job : batch_jobs_.take_due(now_)) {
        if (!may) {
            batch_jobs_.hold(job, now_);
            continue;
        }
        bool late = batch_jobs_.is_late(job, now_, conf_->bind_timeout);
        ports_.workers.push([this, job, late, context = batch_context(),
                             began = unsigned{absences_}](Kube &kube) {
            Result<Job> now = fail(Code::internal, "lost");
            try {
                now = late ? make_late_batch_pod(job, kube, context)
                           : make_batch_pod(job, kube, context);
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
        else if (batch_jobs_.is_stuck(now_, conf_->bind_timeout))
            problem(stuck_problem, "none can be made: " + error.message);
        return;
    }
    if (!made.now->tag.uid.empty())
        batch_jobs_.note_made(now_);
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
        (void)slurm.set_comment(job, "no Pod could be made: " +
                                         clean_text(why, max_words));
        (void)slurm.complete(job, exit_1);
    });
}

// A Pod that was made for a job, and has none: either the tag is about to name
// it, or that job is gone. Only a list that was made long after tells.
void Bridge::note_batch(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.batch_gone = false;
    auto mark = mark_of(gang);
    gang.batch = mark.has_value();
    if (gang.batch)
        note_batch_start(entry);
    // A crash took its allocation back: whatever else goes wrong, it must not run
    // again.
    if (mark && gang.job && gang.job->state == JobState::pending &&
        gang.pods.front()->terminal())
        tidy_batch(gang);
    if (!mark || gang.job) {
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

// A kubelet goes on trying what may never work, such as an image's name with a
// typing error.
void Bridge::note_batch_start(GangEntry &entry)
{
    Gang &gang = entry.gang;
    const Pod &pod = *gang.pods.front();
    gang.cannot_start.clear();
    if (!pod.living() || pod.started || pod.cannot_start.empty()) {
        batch_starts_.erase(gang.uid);
        return;
    }
    auto due = batch_starts_.try_emplace(gang.uid, now_).first->second +
               conf_->bind_timeout;
    if (now_ < due)
        return wake_at(entry, due);
    gang.cannot_start = clean_text(pod.cannot_start, max_words);
}

// The Pod is over, or there is none, and so is its job.
void Bridge::tidy_batch(const Gang &gang)
{
    if (ports_.scripts_dir.empty() || !gang.batch)
        return;
    for (const PodPtr &pod : gang.pods)
        if (batch_tidied_.insert(pod->uid).second)
            tidy_batch_pod(pod);
}

void Bridge::tidy_batch_pod(PodPtr pod)
{
    ports_.workers.push([this, pod = std::move(pod),
                         scripts = ScriptDir(ports_.scripts_dir)](Kube &kube) {
        auto done = bridge::tidy_batch_pod(*pod, kube, scripts);
        if (done)
            return;
        log_warning("what a batch job left is still there",
                    {{"Pod", pod->key.str()}, {"err", done.error().message}});
        mailbox_.push(Ask{[this, pod] {
            batch_untidy_[pod->uid] = pod;
            batch_tidy_due_ = now_ + tidy_again;
        }});
    });
}

// Its Secret goes with it.
void Bridge::forget_batch_pod(const std::string &uid)
{
    batch_waits_.erase(uid);
    batch_starts_.erase(uid);
    batch_tidied_.erase(uid);
}

void Bridge::sweep_scripts(const std::vector<Job> &jobs)
{
    batch_living_.clear();
    batch_listed_ = jobs_asked_;
    ScriptSweep::Named named{.asked = jobs_asked_};
    for (const Job &job : jobs) {
        if (job.tag.script.empty())
            continue;
        (is_ended(job.state) ? named.ended : named.living)
            .insert(job.tag.script);
        if (!is_ended(job.state))
            batch_living_.insert(job.ref);
    }
    if (ports_.scripts_dir.empty())
        return;
    // Of a Pod that is known still the Secret has to go first.
    for (const auto &[uid, entry] : gangs_.all())
        if (auto mark = mark_of(entry.gang))
            named.living.insert(mark->script);
    ports_.workers.push([this, scripts = ScriptDir(ports_.scripts_dir),
                         named = std::move(named), now = now_](Kube &) {
        if (auto done = script_sweep_.sweep(scripts, named, now); !done)
            log_warning("scripts of batch jobs are still there",
                        {{"err", done.error().message}});
    });
}

} // namespace bridge
