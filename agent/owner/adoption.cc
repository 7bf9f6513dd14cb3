// SPDX-License-Identifier: GPL-2.0-or-later
// What a job that adopts a Pod is helped with while it waits: its priority, and
// the tier of its partition (common/slurm/adoption_tier.h).
#include "agent/owner/bridge.h"
#include "common/slurm/adoption_tier.h"

#include "common/base/log.h"

#include <exception>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bridge {

namespace {

// So long slurmctld may take to start a job that nothing keeps from it.
constexpr std::chrono::seconds scheduler_time{5};

using Adopting = std::map<JobRef, std::string>; // uid of the gang
using Widened = std::vector<std::pair<Widening, Result<>>>;

Result<Widened> widen(Slurm &slurm, const Adopting &adopting)
{
    auto uses = slurm.load_uses();
    if (!uses)
        return std::unexpected(uses.error());
    auto partitions = slurm.load_partitions();
    if (!partitions)
        return std::unexpected(partitions.error());
    std::set<JobRef> jobs;
    for (const auto &[job, uid] : adopting)
        jobs.insert(job);
    Widened done;
    for (Widening &wide : behind_higher_tiers(jobs, *uses, *partitions)) {
        auto said =
            slurm.set_partitions(wide.job, wide.partitions, wide.time_limit);
        done.emplace_back(std::move(wide), std::move(said));
    }
    return done;
}

} // namespace

// A job that adopts has nothing to wait for but those that were given what its
// Pods use: it waits before all others, also when somebody has held and
// released it, which makes Slurm reckon its priority anew.
void Bridge::keep_first(const Job &job)
{
    bool held = job.priority == 0;
    if (job.state != JobState::pending || held ||
        job.priority == highest_priority)
        return;
    log_info("a job that adopts goes before all others again",
             {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    ports_.workers.push([this, ref = job.ref](Kube &) {
        // The next resync tries again what fails here.
        (void)ports_.slurm.set_priority(ref, highest_priority);
    });
}

// Asked of slurmctld once for all of them. The next list of jobs brings it
// about again, for what fails here and for what comes to wait.
void Bridge::widen_adoptions()
{
    Adopting adopting;
    for (const auto &[uid, entry] : gangs_.all()) {
        const Gang &gang = entry.gang;
        if (gang.job && gang.job->state == JobState::pending && adopts(gang) &&
            !entry.in_flight && now_ - entry.job_since >= scheduler_time)
            adopting[gang.job->ref] = uid;
    }
    if (adopting.empty() || widening_)
        return;
    widening_ = true;
    ports_.workers.push([this, adopting](Kube &) {
        Result<Widened> done = fail(Code::internal, "lost");
        try {
            done = widen(ports_.slurm, adopting);
        } catch (const std::exception &e) { // such as no memory
            done = fail(Code::busy, e.what());
        }
        mailbox_.push(Ask{[this, adopting, done] {
            widening_ = false;
            if (!done)
                log_warning("failed, retrying",
                            {{"action", "look for higher tiers"},
                             {"err", done.error().message}});
            for (const auto &[wide, said] : done ? *done : Widened())
                widened(adopting.at(wide.job), wide, said);
        }});
    });
}

void Bridge::widened(const std::string &uid, const Widening &wide,
                     const Result<> &done)
{
    if (!done) {
        log_warning("failed, retrying", {{"action", "set partitions"},
                                         {"JobId", wide.job.id},
                                         {"err", done.error().message}});
        return;
    }
    log_info("a job that adopts waits in a higher tier, too",
             {{"JobId", wide.job.id}, {"Partition", wide.partitions}});
    if (GangEntry *entry = gangs_.find(uid))
        tell_event(entry->gang, "SlurmJobAdopted", widened_words(wide));
}

} // namespace bridge
