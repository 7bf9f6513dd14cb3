// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs of sbatch, which exist before their Pods. Once such a job has its nodes,
// a worker thread makes the Pods and writes their uid into the job's tag; from
// then on the job is a gang like any other.
#include "agent/owner/bridge.h"

#include "agent/decide/batch_gang.h"
#include "common/base/log.h"
#include "common/slurm/het_job.h"

#include <utility>

namespace bridge {

namespace {

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
        het_jobs_.drop_broken(one);
        return true;
    }
    GangEntry *entry = gangs_.find(job.ref);
    if (!is_allocated(job.state))
        batch_jobs_.drop(job.ref);
    else if (!entry || !is_placed_anew(entry->gang, job)) // else Remake does
        batch_jobs_.want(job.ref); // or only the tag is written
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

void Bridge::on(BatchPodMade &news)
{
    unsigned began = news.began;
    auto made = batch_jobs_.take(news);
    if (!made)
        return;
    Job &job = made->job;
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
    gang_jobs_.set(entry, std::move(job));
    if (!made->lives || began != line_.absences())
        entry.gang.stale = true;
    agenda_.wake(entry.gang.uid);
}

// The tag shows that the job has no Pod any more.
void Bridge::record_remade(GangEntry &entry, JobRef job)
{
    log_warning("Slurm has placed a batch job again: its Pods are recreated",
                {{"JobId", job.id}, {"Gang", entry.gang.key.str()}});
    gang_jobs_.give_back(entry, job);
    batch_jobs_.want_once_saved(job);
}

} // namespace bridge
