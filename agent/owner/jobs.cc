// SPDX-License-Identifier: GPL-2.0-or-later
// Who hears of the lists of Slurm's jobs and of their states.
#include "agent/owner/bridge.h"

#include <utility>

namespace bridge {

void Bridge::on(JobsLoaded &loaded)
{
    if (!lists_.take(loaded))
        return;
    std::set<JobRef> listed;
    std::vector<Job> of_gangs;
    batch_pods_.take(*loaded.jobs);
    shared_claims_.take(*loaded.jobs);
    auto bound = bound_batch_pods(gangs_, *context_.conf);
    for (Job &job : *loaded.jobs) {
        listed.insert(job.ref);
        if (!register_batch_job(job, bound))
            of_gangs.push_back(std::move(job));
    }
    job_sync_.take(std::move(of_gangs), listed);
    adoptions_.widen();
    first_.add(FirstLists::List::jobs);
    line_.list_came();
    wake_all();
}

void Bridge::on(StatesLoaded &loaded)
{
    if (lists_.take(loaded))
        job_sync_.take(*loaded.states);
}

} // namespace bridge
