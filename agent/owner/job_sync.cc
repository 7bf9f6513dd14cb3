// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/job_sync.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gang/flags.h"
#include "agent/gang/job_choice.h"
#include "common/base/log.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace bridge {

namespace {

bool lives(const Job &job)
{
    return !is_ended(job.state);
}

// Returns whether the job has changed in Slurm. After a crash, Slurm may also
// have placed it elsewhere, or brought back one that had ended.
bool differs(const Job &known, const Job &listed)
{
    if (is_ended(known.state))
        return lives(listed);
    bool moved = is_allocated(listed.state) && !known.nodes.empty() &&
                 !listed.nodes.empty() && listed.nodes != known.nodes;
    return listed.state != known.state || moved;
}

// True also if only one component lives.
bool has_life(const Job &job)
{
    return lives(job) || !left_over(job).empty();
}

// Whether it bound Pods that live, waits again, and can be held: then it takes
// nothing, and may wait until they have their new job.
bool can_wait_held(const Gang &gang, const Job &job)
{
    bool any_lives = std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return pod->living() && bound_by(*pod, job);
    });
    return any_lives && job.state == JobState::pending &&
           job.tag.components == 0;
}

// Whether it waits, and all Pods are over.
bool is_left(const Gang &gang, const Job &job)
{
    return job.state == JobState::pending && !gang.pods.empty() &&
           all_over(gang);
}

// Whether nothing follows from its end for living Pods, even if the gang's job
// does not live, or it is only held.
bool may_end(const Gang &gang, const Job &job)
{
    return !is_binder(gang, job) || is_left(gang, job) ||
           can_wait_held(gang, job);
}

// Another crash may lose the new job of the Pods, even while a request to end
// the first one is on its way; the end of their only job would be read as a
// user's request to end them. So the first ends once they have the stamps of
// the other.
void hold(const Gang &gang, const Job &job, const Errands &errands)
{
    if (!gang.job || job.priority == 0)
        return;
    log_warning("holding the first job of Pods that get another one",
                {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    std::string words = second_job_message(gang.job, true);
    errands.run([ref = job.ref, words](Slurm &slurm) {
        // If this fails, the next resync tries again.
        (void)slurm.set_comment(ref, words); // for people only
        (void)slurm.set_priority(ref, 0);
    });
}

std::vector<JobRef> living_refs(const Job &job)
{
    auto left = left_over(job);
    return left.empty() ? std::vector{job.ref} : left;
}

} // namespace

void JobSync::take(std::vector<Job> jobs, const std::set<JobRef> &listed)
{
    std::unordered_map<std::string, std::vector<Job>> by_gang;
    for (Job &job : jobs)
        by_gang[job.tag.uid].push_back(std::move(job));
    for (auto &[uid, own] : by_gang)
        update(uid, own);
    // A known job that is missing in the list must be looked up.
    for (auto &[uid, entry] : to_.gangs.all()) {
        Gang &gang = entry.gang;
        if (gang.job && lives(*gang.job) && !listed.contains(gang.job->ref) &&
            entry.job_since < to_.lists.asked() && !entry.ending_job)
            doubt_job(gang, "the list of jobs does not have it");
        settle_uncertain(entry);
        to_.voice.say_pending_reason(entry);
    }
}

// Returns the gang of these jobs; null if none of them needs one. It is new, or
// has no job for sure, when the first of them has to be chosen.
GangEntry *JobSync::entry_for(const std::string &uid, std::vector<Job> &jobs)
{
    GangEntry *entry = to_.gangs.find(uid);
    // A Pod that this agent, before a restart, has split from its gang.
    if (!entry && std::ranges::any_of(jobs, lives))
        if (std::string alone = to_.gangs.split(uid); !alone.empty())
            entry = to_.gangs.find(alone);
    if (!entry) {
        auto alive = std::ranges::find_if(jobs, lives);
        if (alive == jobs.end())
            return nullptr; // its Pods are gone, and it has ended
        entry = &to_.gangs.create_for_job(alive->tag, context_.now);
        set_first(*entry, jobs);
        doubt_job(entry->gang, "it may have ended since it was listed");
    } else if (!entry->gang.job || entry->gang.submit_uncertain) {
        set_first(*entry, jobs);
    }
    return entry;
}

void JobSync::update(const std::string &uid, std::vector<Job> &jobs)
{
    GangEntry *entry = to_.gangs.find(uid);
    if (entry && entry->in_flight)
        return; // its outcome is newer than this list
    to_.het.drop_broken(jobs);
    if (jobs.empty())
        return;
    entry = entry_for(uid, jobs);
    if (!entry)
        return;
    // Not set: Slurm has lost it.
    const std::optional<Job> &current = entry->gang.job;
    bool sure = current && std::ranges::any_of(jobs, [&](const Job &job) {
                    return lives(job) && job.ref == current->ref;
                });
    for (Job &job : jobs) {
        if (current && job.ref == current->ref)
            update_current(*entry, job);
        else if (has_life(job) && (sure || may_end(entry->gang, job)))
            for (JobRef ref : living_refs(job))
                cancel_duplicate(entry->gang, job, ref);
    }
}

void JobSync::update_current(GangEntry &entry, Job &listed) const
{
    Job &current = *entry.gang.job;
    if (differs(current, listed))
        return doubt_job(entry.gang, "the list of jobs has it otherwise");
    entry.heard = to_.lists.absences();
    current.reason = listed.reason;
    current.wants_nodes = listed.wants_nodes;
    current.expected_start = listed.expected_start;
    current.prefers = listed.prefers;
    current.features = std::move(listed.features);
    if (adopts(entry.gang))
        to_.adoptions.restore_priority(entry.gang, listed.priority);
}

void JobSync::set_first(GangEntry &entry, std::vector<Job> &jobs)
{
    std::ranges::sort(jobs, {}, [](const Job &job) { return job.ref.sluid; });
    const Job *chosen = choose_job(entry.gang, jobs);
    if (!chosen)
        return;
    bool bound = std::ranges::any_of(
        entry.gang.pods, [](const PodPtr &pod) { return pod->bound(); });
    // slurmctld keeps a record of some jobs that it refused; the answer to
    // their submit has already said everything.
    if (!bound && chosen->state == JobState::failed)
        return;
    const std::optional<Job> &known = entry.gang.job;
    if (entry.gang.submit_uncertain &&
        ((known && chosen->ref == known->ref) ||
         (is_ended(chosen->state) &&
          chosen->tag.generation < generation_of(entry.gang))))
        return; // not the job that is looked for
    settle_submit(entry);
    to_.jobs.set(entry, *chosen);
    // The list does not say whether a node failed or was only forgotten.
    if (chosen->state == JobState::node_fail)
        doubt_job(entry.gang, "a node of it may have failed");
}

// Ends a second job. The job that bound Pods must not be ended unless slurmctld
// knows its successor: if a crash has lost that one, the end of the first would
// be read as a user's request to end the Pods. libslurm waits for a slurmctld
// that is starting.
void JobSync::cancel_duplicate(const Gang &gang, const Job &job,
                               JobRef ref) const
{
    if (can_wait_held(gang, job))
        return hold(gang, job, to_.errands);
    log_warning("ending a second job of one gang",
                {{"JobId", ref.id}, {"Gang", job.tag.gang}});
    std::optional<JobRef> successor;
    if (is_binder(gang, job) && !is_left(gang, job))
        successor = gang.job->ref;
    bool lost = successor && lost_allocation(gang, job);
    std::string words = second_job_message(gang.job, lost);
    to_.errands.run(
        [ref, successor, words,
         left = to_.line.left_since(to_.lists.absences())](Slurm &slurm) {
            // A job that has ended meanwhile keeps its exit code. If this
            // fails, the next resync tries again.
            auto lives_now = [&slurm](JobRef one) {
                auto now = slurm.load(one);
                return now && has_life(*now);
            };
            if (!lives_now(ref))
                return;
            (void)slurm.set_comment(ref, words); // for people only
            if (successor && (!lives_now(*successor) || left()))
                return;
            (void)slurm.cancel(ref);
        });
}

void JobSync::take(const std::vector<JobStateHint> &states)
{
    std::unordered_map<JobId, JobState> known;
    for (const JobStateHint &hint : states)
        known[hint.id] = hint.state;
    for (auto &[uid, entry] : to_.gangs.all()) {
        Gang &gang = entry.gang;
        if (!gang.job || is_ended(gang.job->state) || entry.in_flight ||
            entry.job_since > to_.lists.states_asked())
            continue;
        bool was_pending = gang.job->state == JobState::pending;
        bool was_suspended = gang.job->state == JobState::suspended;
        auto has_changed = [&](JobRef ref) {
            auto state = known.find(ref.id);
            return state == known.end() || is_ended(state->second) ||
                   (was_pending && state->second != JobState::pending) ||
                   was_suspended != (state->second == JobState::suspended);
        };
        if (std::ranges::any_of(refs_of(*gang.job), has_changed)) {
            context_.health.count("found_by_poll");
            doubt_job(gang, "its state has changed");
            to_.agenda.wake(uid);
        }
    }
}

// If no list had the job of an uncertain submit, there is none.
void JobSync::settle_uncertain(GangEntry &entry) const
{
    bool looked = entry.uncertain_since &&
                  to_.lists.asked() >= *entry.uncertain_since + answer_time;
    if (!entry.gang.submit_uncertain || !looked || entry.in_flight)
        return;
    settle_submit(entry);
}

} // namespace bridge
