// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/batch_intake.h"

#include "agent/decide/batch_gang.h"
#include "agent/gang/flags.h"
#include "common/base/log.h"
#include "common/slurm/het_job.h"

#include <utility>

namespace bridge {

namespace {

// The gang's Pods were made for other nodes than its job has now.
bool is_placed_anew(const Gang &known, const Job &job)
{
    Gang gang = known;
    gang.job = job;
    return is_made_for_others(gang);
}

} // namespace

// A crash of slurmctld loses what was written to a job within the last seconds;
// then the job's Pod says to which job it belongs.
bool BatchIntake::register_job(Job &job, const std::map<JobRef, GangTag> &bound)
{
    if (!lacks_pods(job))
        return false;
    // Slurm has refused a heterogeneous job, but kept a part of it.
    if (std::vector<Job> one{job}; !is_whole(job)) {
        to_.batch_jobs.drop(job.ref);
        to_.het_jobs.drop_broken(one);
        return true;
    }
    GangEntry *entry = to_.gangs.find(job.ref);
    if (!is_allocated(job.state))
        to_.batch_jobs.drop(job.ref);
    else if (!entry || !is_placed_anew(entry->gang, job)) // else Remake does
        to_.batch_jobs.want(job.ref); // or only the tag is written
    if (entry)
        job.tag = entry->gang.job->tag;
    else if (auto pod = bound.find(job.ref);
             pod != bound.end() && !is_ended(job.state)) {
        // the Pod does not have it
        std::uint32_t components = job.tag.components;
        job.tag = pod->second;
        job.tag.components = components;
    }
    return lacks_pods(job);
}

void BatchIntake::take(BatchPodMade &news)
{
    unsigned began = news.began;
    auto made = to_.batch_jobs.take(news);
    if (!made)
        return;
    Job &job = made->job;
    GangEntry *known = to_.gangs.find(job.tag.uid);
    if (known && !known->in_flight && known->gang.job &&
        known->gang.job->ref == job.ref) { // a list came first
        doubt_job(known->gang, "its Pods are made");
        return to_.agenda.wake(known->gang.uid);
    }
    if (known && (known->in_flight || known->gang.job))
        return to_.lists.list_soon();
    GangEntry &entry =
        known ? *known : to_.gangs.create_for_job(job.tag, to_.context.now);
    entry.heard = began;
    to_.gang_jobs.set(entry, std::move(job));
    if (!made->lives || began != to_.line.absences())
        doubt_job(entry.gang, "it may have ended while its Pods were made");
    to_.agenda.wake(entry.gang.uid);
}

void BatchIntake::remade(GangEntry &entry, JobRef job)
{
    log_warning("Slurm has placed a batch job again: its Pods are recreated",
                {{"JobId", job.id}, {"Gang", entry.gang.key.str()}});
    to_.gang_jobs.give_back(entry, job);
    to_.batch_jobs.want_once_saved(job);
}

} // namespace bridge
