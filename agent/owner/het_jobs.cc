// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/het_jobs.h"

#include "agent/decide/job_requests.h"
#include "agent/gang/facts.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

bool is_heterogeneous(const Gang &gang)
{
    return gang.job && gang.job->tag.components != 0;
}

bool waits_for_backfill(const Gang &gang)
{
    return is_heterogeneous(gang) && gang.job->state == JobState::pending;
}

// As far as its Pods say; "" means Slurm's default.
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

void HetJobs::note(const Gang &gang)
{
    if (is_heterogeneous(gang))
        may_wait_.insert(gang.uid);
}

// slurmctld's main scheduler skips heterogeneous jobs, and starts nothing
// behind them in their partition. Running it would be useless, and would delay
// backfill.
bool HetJobs::is_quiet(const Gang &gang)
{
    std::erase_if(may_wait_, [this](const std::string &uid) {
        const GangEntry *entry = gangs_.find(uid);
        return !entry || !waits_for_backfill(entry->gang);
    });
    std::string own =
        may_wait_.empty() ? "" : partitions_of(gang, *context_.conf);
    return std::ranges::any_of(may_wait_, [&](const std::string &uid) {
        return overlap(partitions_of(gangs_.find(uid)->gang, *context_.conf),
                       own);
    });
}

// Ends the components that are left of a heterogeneous job which slurmctld has
// refused. Ended components say nothing about the Pods (FAILED, see
// join_components()). Only a component that was refused because of a limit of
// its user goes on as a job of its own.
void HetJobs::drop_broken(std::vector<Job> &jobs) const
{
    auto is_broken = [](const Job &job) {
        return !is_whole(job) && !is_ended(job.state);
    };
    for (const Job &job : jobs)
        for (JobRef ref : is_broken(job) ? refs_of(job) : std::vector<JobRef>{})
            if (!gangs_.living_of(ref)) {
                log_warning("ending the rest of a heterogeneous job",
                            {{"JobId", ref.id}, {"Gang", job.tag.gang}});
                errands_.run([ref](Slurm &slurm) {
                    // If this fails, the next resync tries again.
                    (void)slurm.cancel(ref);
                });
            }
    std::erase_if(jobs, is_broken);
}

} // namespace bridge
