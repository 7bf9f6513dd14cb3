// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld's plugin reports, and what it still has to be told.
#include "agent/owner/bridge.h"

#include "common/base/log.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

void Bridge::on(HookReceived &hook)
{
    const HookMessage &message = hook.message;
    switch (message.type) {
    case HookMessage::Type::hello:
        on_hello(message, hook.from);
        break;
    case HookMessage::Type::allocated:
        on_allocated(message);
        break;
    case HookMessage::Type::ended:
        on_ended(message);
        break;
    case HookMessage::Type::resync:
        context_.health.count("hook_resync");
        lists_.list_soon();
        break;
    default:
        break;
    }
}

void Bridge::on_hello(const HookMessage &hello, PluginConnection from)
{
    line_.hello(hello, from);
    // slurmctld may have restarted, maybe from an older state, and has
    // forgotten jobs. What is known of them is old until they are listed again.
    room_.forget_ordinary();
    lists_.list_soon();
    sync_.change_soon();
    list_shadows_ = true;
    grace_.doubt(); // slurm.conf may have changed
}

// The plugin repeats all held hooks when it connects again.
void Bridge::on(HookLost &)
{
    line_.lost();
    // slurmctld may return from an older state, without the features.
    pinned_.clear();
    pins_lost_ = true;
    placement_.doubt();
    room_.forget_ordinary();
    early_hooks_.clear();
    for (auto &[uid, entry] : gangs_.all())
        entry.gang.prolog_held = entry.gang.epilog_held = false;
}

// An ordinary job concerns the agent only because its node is dirty.
void Bridge::on_ordinary(const HookMessage &hook)
{
    if (hook.dirty.empty())
        return;
    if (shadows_.contains(hook.job))
        line_.send({.type = HookMessage::Type::start, .job = hook.job});
    else
        room_.queue_ordinary(hook.job);
}

void Bridge::on_allocated(const HookMessage &hook)
{
    context_.health.count("allocated");
    if (!hook.ours)
        return on_ordinary(hook);
    GangEntry *entry = gangs_.find(hook.job);
    if (!entry) { // the answer to our submit is still outstanding
        early_hooks_.put(hook);
        if (hook.batch)
            batch_jobs_.want(hook.job);
        return;
    }
    record_allocation(*entry, hook);
    agenda_.wake(entry->gang.uid);
}

// slurmctld reports an allocation as it makes it. For a job of one node the
// message has all there is to know, as its memory is what was requested.
// Anything else is read.
void Bridge::record_allocation(GangEntry &entry, const HookMessage &hook)
{
    Gang &gang = entry.gang;
    Job &job = *gang.job;
    entry.heard = line_.absences();
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
        gang.stale = true; // or slurmctld crashed, and allocated it again
    }
}

void Bridge::on_ended(const HookMessage &hook)
{
    context_.health.count("ended");
    early_hooks_.drop(hook.job);
    batch_jobs_.drop(hook.job);
    if (GangEntry *entry = gangs_.find(hook.job)) {
        Gang &gang = entry->gang;
        gang.prolog_held = false;
        gang.epilog_held = true;
        if (!is_ended(gang.job->state) && !entry->ending_job)
            gang.stale = true; // its end must be looked up
        agenda_.wake(gang.uid);
    } else if (!synced() || gangs_.living_of(hook.job)) {
        early_hooks_.put(hook);
    } else {
        line_.send({.type = HookMessage::Type::clean, .job = hook.job});
    }
}

// A held epilog of the previous job still needs an answer.
void Bridge::set_job(GangEntry &entry, std::optional<Job> job)
{
    const Gang &gang = entry.gang;
    bool other = gang.job && (!job || job->ref != gang.job->ref);
    if (other && gang.epilog_held)
        for (JobRef ref : refs_of(*gang.job))
            early_hooks_.put({.type = HookMessage::Type::ended, .job = ref});
    gangs_.set_job(entry, std::move(job), context_.now);
    if (gang.job)
        for (JobRef ref : refs_of(*gang.job))
            apply_early_hook(entry, ref);
}

void Bridge::apply_early_hook(GangEntry &entry, JobRef job)
{
    Gang &gang = entry.gang;
    auto hook = early_hooks_.take(job);
    if (!hook)
        return;
    if (hook->type == HookMessage::Type::allocated)
        return record_allocation(entry, *hook);
    gang.prolog_held = false;
    gang.epilog_held = true;
    if (!is_ended(gang.job->state))
        gang.stale = true;
}

} // namespace bridge
