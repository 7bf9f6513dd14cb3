// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/gang_jobs.h"

#include "agent/gang/flags.h"
#include "common/slurm/het_job.h"

#include <utility>
#include <vector>

namespace bridge {

// A held epilog of the previous job still needs an answer.
void GangJobs::set(GangEntry &entry, std::optional<Job> job)
{
    const Gang &gang = entry.gang;
    bool other = gang.job && (!job || job->ref != gang.job->ref);
    if (other && gang.epilog_held)
        for (JobRef ref : refs_of(*gang.job))
            to_.early.put({.type = HookMessage::Type::ended, .job = ref});
    to_.gangs.set_job(entry, std::move(job), context_.now);
    if (gang.job)
        for (JobRef ref : refs_of(*gang.job))
            apply_early_hook(entry, ref);
}

void GangJobs::apply_early_hook(GangEntry &entry, JobRef job)
{
    Gang &gang = entry.gang;
    auto hook = to_.early.take(job);
    if (!hook)
        return;
    if (hook->type == HookMessage::Type::allocated)
        return record_allocation(entry, *hook);
    gang.prolog_held = false;
    gang.epilog_held = true;
    if (!is_ended(gang.job->state))
        doubt_job(gang, "it has ended");
}

void GangJobs::give_back(GangEntry &entry, JobRef job)
{
    bool held = entry.gang.prolog_held;
    set(entry, std::nullopt);
    if (held)
        to_.early.put({.type = HookMessage::Type::allocated,
                       .job = job,
                       .ours = true,
                       .batch = true});
}

bool GangJobs::allocated(const HookMessage &hook)
{
    GangEntry *entry = to_.gangs.find(hook.job);
    if (!entry) { // the answer to our submit is still outstanding
        to_.early.put(hook);
        return false;
    }
    record_allocation(*entry, hook);
    to_.agenda.wake(entry->gang.uid);
    return true;
}

// slurmctld reports an allocation as it makes it. For a job of one node the
// message has all there is to know, as its memory is what was requested.
// Anything else is read.
void GangJobs::record_allocation(GangEntry &entry,
                                 const HookMessage &hook) const
{
    Gang &gang = entry.gang;
    Job &job = *gang.job;
    entry.heard = to_.line.absences();
    job.gres_read = false; // only a look shows which indexes it has
    job.gres_on.clear();
    job.cpu_ids_on.clear();
    gang.prolog_held = true;
    bool one_node = hook.nodes.find_first_of("[,") == hook.nodes.npos;
    bool said = hook.cpus != 0 && one_node && job.tag.components == 0;
    const Job &told = component_of(job, hook.job);
    if (job.state == JobState::pending && said && !gang.stale) {
        job.state = JobState::configuring;
        job.nodes = {hook.nodes};
        job.cpus = hook.cpus;
    } else if (!is_allocated(told.state) || told.nodes.empty() || !one_node ||
               told.nodes != std::vector{hook.nodes}) {
        // or slurmctld crashed, and allocated it again
        doubt_job(gang, "it has other nodes");
    }
}

void GangJobs::ended(const HookMessage &hook, bool all_known)
{
    to_.early.drop(hook.job);
    if (GangEntry *entry = to_.gangs.find(hook.job)) {
        Gang &gang = entry->gang;
        gang.prolog_held = false;
        gang.epilog_held = true;
        if (!is_ended(gang.job->state) && !entry->ending_job)
            doubt_job(gang, "it has ended");
        to_.agenda.wake(gang.uid);
    } else if (!all_known || to_.gangs.living_of(hook.job)) {
        to_.early.put(hook);
    } else {
        to_.line.send({.type = HookMessage::Type::clean, .job = hook.job});
    }
}

void GangJobs::forget_hooks()
{
    to_.early.clear();
    for (auto &[uid, entry] : to_.gangs.all())
        entry.gang.prolog_held = entry.gang.epilog_held = false;
}

// Each component has its own hook.
void GangJobs::start(Gang &gang) const
{
    for (JobRef job : refs_of(*gang.job))
        to_.line.send({.type = HookMessage::Type::start, .job = job});
    gang.prolog_held = false;
    gang.job->state = JobState::running;
}

void GangJobs::clean(Gang &gang) const
{
    for (JobRef job : refs_of(*gang.job))
        to_.line.send({.type = HookMessage::Type::clean, .job = job});
    gang.epilog_held = false;
    if (gang.job->state == JobState::pending)
        give_up_binding(gang, "its allocation has ended");
}

} // namespace bridge
