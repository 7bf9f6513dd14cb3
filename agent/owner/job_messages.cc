// SPDX-License-Identifier: GPL-2.0-or-later
// Who hears of Slurm's jobs: of lists, states and actions.
#include "agent/owner/owner.h"

#include <utility>

namespace bridge {

void Owner::on(JobsLoaded &loaded)
{
    if (!to_.lists.take(loaded))
        return;
    std::set<JobRef> listed;
    std::vector<Job> of_gangs;
    to_.batch_pods.take(*loaded.jobs);
    to_.node_demands.take(*loaded.jobs);
    to_.shared_claims.take(*loaded.jobs);
    auto bound = bound_batch_pods(to_.gangs, *to_.context.conf);
    for (Job &job : *loaded.jobs) {
        listed.insert(job.ref);
        if (!to_.batch_intake.register_job(job, bound))
            of_gangs.push_back(std::move(job));
    }
    to_.job_sync.take(std::move(of_gangs), listed);
    to_.adoptions.widen();
    to_.first.add(FirstLists::List::jobs);
    to_.line.list_came();
    wake_all();
}

void Owner::on(StatesLoaded &loaded)
{
    if (to_.lists.take(loaded))
        to_.job_sync.take(*loaded.states);
}

void Owner::on(GraceTimesLoaded &loaded)
{
    bool news = to_.grace.take(loaded);
    if (to_.grace.known())
        to_.first.add(FirstLists::List::grace_times);
    if (news)
        wake_all(); // what lives, and what was refused
}

void Owner::on(ActionDone &done)
{
    to_.outcomes.take(done);
}

void Owner::on(BatchPodMade &made)
{
    to_.batch_intake.take(made);
}

} // namespace bridge
