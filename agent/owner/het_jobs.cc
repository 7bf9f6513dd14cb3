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
    std::string_view asked =
        gang.pods.empty()
            ? std::string_view()
            : wish_value_in(lead_of(gang).annotations, "partition");
    return asked.empty() ? conf.partition : std::string(asked);
}

// At least one, which may be "".
std::vector<std::string_view> each_of(std::string_view partitions)
{
    std::vector<std::string_view> names;
    do
        names.push_back(next_part(partitions, ','));
    while (!partitions.empty());
    return names;
}

} // namespace

void HetJobs::note(const Gang &gang)
{
    if (!waits_for_backfill(gang) || gang.pods.empty()) {
        drop(gang.uid); // without Pods its partitions are not known
        return;
    }
    auto known = may_wait_.find(gang.uid);
    if (known != may_wait_.end() && known->second.job == gang.job->ref)
        return;
    drop(gang.uid);
    std::string partitions = partitions_of(gang, *context_.conf);
    for (std::string_view name : each_of(partitions))
        by_partition_[std::string(name)].insert(gang.uid);
    may_wait_[gang.uid] = {gang.job->ref, std::move(partitions)};
}

void HetJobs::drop(const std::string &uid)
{
    auto known = may_wait_.extract(uid);
    if (known.empty())
        return;
    for (std::string_view name : each_of(known.mapped().partitions)) {
        auto place = by_partition_.find(name);
        if (place == by_partition_.end())
            continue; // the name came twice
        place->second.erase(known.key());
        if (place->second.empty())
            by_partition_.erase(place);
    }
}

// Drops those that it finds to wait no longer, so that each costs this once.
bool HetJobs::any_waits_in(std::string_view partition)
{
    for (auto place = by_partition_.find(partition);
         place != by_partition_.end(); place = by_partition_.find(partition)) {
        const std::string &uid = *place->second.begin();
        const GangEntry *entry = gangs_.find(uid);
        if (entry && waits_for_backfill(entry->gang))
            return true;
        drop(std::string(uid));
    }
    return false;
}

// slurmctld's main scheduler skips heterogeneous jobs, and starts nothing
// behind them in their partition. Running it would be useless, and would delay
// backfill.
bool HetJobs::is_quiet(const Gang &gang)
{
    if (by_partition_.empty())
        return false;
    const std::string own = partitions_of(gang, *context_.conf);
    return std::ranges::any_of(each_of(own), [this](std::string_view name) {
        return any_waits_in(name);
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
