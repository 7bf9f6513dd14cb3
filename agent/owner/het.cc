// SPDX-License-Identifier: GPL-2.0-or-later
// Gangs whose job is heterogeneous.
#include "agent/owner/bridge.h"

#include "agent/decide/job_requests.h"
#include "agent/gang/facts.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

bool waits_for_backfill(const Gang &gang)
{
    return gang.job && gang.job->tag.components != 0 &&
           gang.job->state == JobState::pending;
}

// As far as its Pods themselves say; empty: Slurm's default.
std::string partitions_of(const Gang &gang, const Conf &conf)
{
    std::string asked =
        gang.pods.empty()
            ? ""
            : value_of(wishes_in(lead_of(gang).annotations), "partition");
    return asked.empty() ? conf.partition : asked;
}

bool overlap(std::string_view some, std::string_view others)
{
    auto is_among = [&](std::string_view name) {
        std::string_view rest = others;
        do
            if (next_part(rest, ',') == name)
                return true;
        while (!rest.empty());
        return false;
    };
    do
        if (is_among(next_part(some, ',')))
            return true;
    while (!some.empty());
    return false;
}

} // namespace

// slurmctld's main scheduler passes over it, and lets nothing behind it start
// in that partition: to make it run is in vain, and in backfill's way.
bool Bridge::is_quiet(const Gang &gang)
{
    std::erase_if(backfilled_, [this](const std::string &uid) {
        const GangEntry *entry = gangs_.find(uid);
        return !entry || !waits_for_backfill(entry->gang);
    });
    std::string own = backfilled_.empty() ? "" : partitions_of(gang, *conf_);
    return std::ranges::any_of(backfilled_, [&](const std::string &uid) {
        return overlap(partitions_of(gangs_.find(uid)->gang, *conf_), own);
    });
}

// What slurmctld has refused leaves components of it behind: they have ended,
// and are no word of anybody's (FAILED, as join_components() has it), but for
// one that a limit of its user's has refused, which goes on as a job of its
// own.
void Bridge::drop_broken(std::vector<Job> &jobs)
{
    auto is_broken = [](const Job &job) {
        return !is_whole(job) && !is_ended(job.state);
    };
    for (const Job &job : jobs)
        for (JobRef ref : is_broken(job) ? refs_of(job) : std::vector<JobRef>{})
            if (!gangs_.living_of(ref)) {
                log_warning("ending the rest of a heterogeneous job",
                            {{"JobId", ref.id}, {"Gang", job.tag.gang}});
                ports_.workers.push([this, ref](Kube &) {
                    // The next resync tries again what fails here.
                    (void)ports_.slurm.cancel(ref);
                });
            }
    std::erase_if(jobs, is_broken);
}

} // namespace bridge
