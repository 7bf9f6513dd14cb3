// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/adoptions.h"

#include "common/base/log.h"

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bridge {

namespace {

// Slurm's reason at a job that asks for features that no node has.
constexpr char unfit_reason[] = "BadConstraints";

// The time that slurmctld may take to start a job that can start.
constexpr std::chrono::seconds scheduler_time{5};

using Adopting = std::map<JobRef, std::string>; // the gang's uid
using Widened = std::vector<std::pair<Widening, Result<>>>;

Result<Widened> widen_all(Slurm &slurm, const Adopting &adopting)
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

// Returns whether it was held for its constraints still. A hold of its user
// stays.
Result<bool> release_unfit(Slurm &slurm, JobRef ref)
{
    auto now = slurm.load(ref);
    if (!now)
        return std::unexpected(now.error());
    if (now->state != JobState::pending || now->priority != 0 ||
        now->reason != unfit_reason)
        return false;
    if (auto done = slurm.set_priority(ref, computed_priority); !done)
        return std::unexpected(done.error());
    return true;
}

} // namespace

// A job that adopts waits only for jobs that were given what its Pods use, so
// it must come before all others. Its priority is restored after somebody has
// held and released it, which makes Slurm compute a new one. It is also
// released where slurmctld holds it because a crash made it forget the node's
// own feature, and the node has that again: slurmctld itself would release it
// half a minute later, behind others that take the node meanwhile.
void Adoptions::restore_priority(const Gang &gang, std::uint32_t priority) const
{
    const Job &job = *gang.job;
    bool held = priority == 0;
    bool unfit = held && job.reason == unfit_reason;
    auto pinned = [this](const PodPtr &pod) {
        return !pod->living() ||
               to_.pins.has(to_.nodes.slurm_name_of(pod->node_name));
    };
    if (job.state != JobState::pending || priority == highest_priority ||
        (held && !(unfit && std::ranges::all_of(gang.pods, pinned))))
        return;
    // If this fails, the next resync tries again.
    to_.errands.run([ref = job.ref, unfit, tag = job.tag](Slurm &slurm) {
        if (unfit && !release_unfit(slurm, ref).value_or(false))
            return;
        if (slurm.set_priority(ref, highest_priority))
            log_info(unfit ? "released a job that adopts Pods: its node has "
                             "its feature again"
                           : "restored the priority of a job that adopts Pods",
                     {{"JobId", ref.id}, {"Gang", tag.gang}});
    });
}

void Adoptions::look_for_unfit(bool lost) const
{
    bool any = std::ranges::any_of(to_.gangs.all(), [&](const auto &known) {
        const Gang &gang = known.second.gang;
        return gang.job && gang.job->state == JobState::pending &&
               (lost || gang.job->reason == unfit_reason) && adopts(gang);
    });
    if (any)
        to_.lists.list_soon();
}

void Adoptions::widen()
{
    Adopting adopting;
    for (const auto &[uid, entry] : to_.gangs.all()) {
        const Gang &gang = entry.gang;
        if (gang.job && gang.job->state == JobState::pending && adopts(gang) &&
            !entry.in_flight &&
            context_.now - entry.job_since >= scheduler_time)
            adopting[gang.job->ref] = uid;
    }
    if (adopting.empty() || widening_)
        return;
    widening_ = true;
    to_.errands.ask(
        [adopting](Slurm &slurm) { return widen_all(slurm, adopting); },
        [this, adopting](const Result<Widened> &done) {
            widening_ = false;
            if (!done)
                log_warning("failed, retrying",
                            {{"action", "look for higher tiers"},
                             {"err", done.error().message}});
            for (const auto &[wide, said] : done ? *done : Widened())
                widened(adopting.at(wide.job), wide, said);
        });
}

void Adoptions::widened(const std::string &uid, const Widening &wide,
                        const Result<> &done) const
{
    if (!done) {
        log_warning("failed, retrying", {{"action", "set partitions"},
                                         {"JobId", wide.job.id},
                                         {"err", done.error().message}});
        return;
    }
    log_info("a job that adopts Pods now waits in a higher tier, too",
             {{"JobId", wide.job.id}, {"Partition", wide.partitions}});
    if (GangEntry *entry = to_.gangs.find(uid))
        to_.voice.warn(entry->gang, "SlurmJobAdopted", widened_message(wide));
}

} // namespace bridge
