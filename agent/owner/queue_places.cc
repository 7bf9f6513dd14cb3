// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/queue_places.h"

#include "agent/decide/job_requests.h"
#include "agent/decide/messages.h"
#include "agent/gang/action.h"
#include "common/slurm/reasons.h"

namespace bridge {

namespace {

bool waits_in_slurm(const GangEntry &entry)
{
    return entry.gang.job && entry.gang.job->state == JobState::pending;
}

// Pods do not ask for the jobs of sbatch.
bool takes_place(const GangEntry &entry)
{
    return waits_in_slurm(entry) && entry.gang.job->tag.script.empty();
}

// Until a list shows the job, only the answer to its submit says that.
bool waits_by_wish(const GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (waits_in_slurm(entry))
        return gang.job->reason.empty() ? entry.by_wish
                                        : is_own_wish(gang.job->reason);
    return !gang.pods.empty() &&
           asks_to_wait(wishes_in(lead_of(gang).annotations),
                        lead_of(gang).created);
}

PendingQuota::Asker asker_of(const GangEntry &entry)
{
    const Gang &gang = entry.gang;
    return {gang.uid, gang.key.ns,
            gang.pods.empty() ? std::chrono::sys_seconds{}
                              : lead_of(gang).created,
            waits_by_wish(entry)};
}

} // namespace

void QueuePlaces::set_limits()
{
    quota_.set_limits({context_.conf->max_pending_jobs,
                       context_.conf->max_pending_in_namespace});
}

void QueuePlaces::count(const GangEntry &entry)
{
    if (takes_place(entry))
        quota_.count(asker_of(entry));
}

bool QueuePlaces::may_ask(const GangEntry &entry, std::string &reason)
{
    PendingQuota::Asker asker = asker_of(entry);
    auto full = quota_.full(asker.ns, asker.by_wish); // as it is before it
    if (quota_.may_ask(asker))
        return true;
    reason = message(full, asker.by_wish);
    return false;
}

// Says why a gang stands in line. The message has no number that changes while
// the queue moves, because it is written on each Pod.
std::string QueuePlaces::message(PendingQuota::Full full, bool by_wish) const
{
    using Full = PendingQuota::Full;
    SubmitLimit all{"MaxPendingJobs", context_.conf->max_pending_jobs};
    SubmitLimit own{"MaxPendingJobsPerNamespace", quota_.share()};
    bool own_is_set = context_.conf->max_pending_in_namespace.value_or(0) != 0;
    if (full == Full::nothing) // others of its namespace stand before it
        full = by_wish ? Full::by_wish : Full::all;
    if (full == Full::by_wish)
        return submit_by_wish_message(own_is_set ? own : all);
    if (full == Full::in_namespace)
        return own_is_set ? submit_limit_message(own)
                          : submit_share_message(quota_.share(), all);
    return submit_limit_message(all.number != 0 ? all : own);
}

void QueuePlaces::decided(const std::string &uid, const GangEntry *entry,
                          bool wants)
{
    bool asks = entry && (takes_place(*entry) || entry->gang.submit_uncertain ||
                          entry->in_flight == Action(Submit{}).index() ||
                          entry->in_flight == Action(Adopt{}).index());
    if (asks)
        quota_.count(asker_of(*entry));
    else if (!wants)
        quota_.leave(uid);
}

} // namespace bridge
