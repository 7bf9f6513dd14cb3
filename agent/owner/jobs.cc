// SPDX-License-Identifier: GPL-2.0-or-later
// The lists of Slurm's jobs and of their states: which job belongs to which
// gang.
#include "agent/decide/messages.h"
#include "agent/owner/bridge.h"
#include "common/slurm/het_job.h"

#include "common/base/log.h"
#include "common/contract/names.h"

#include <algorithm>
#include <unordered_map>

namespace bridge {

namespace {

// Returns whether the job has changed in Slurm. After a crash, Slurm may also
// have placed it elsewhere, or brought back one that had ended.
bool differs(const Job &known, const Job &listed)
{
    if (is_ended(known.state))
        return !is_ended(listed.state);
    bool moved = is_allocated(listed.state) && !known.nodes.empty() &&
                 !listed.nodes.empty() && listed.nodes != known.nodes;
    return listed.state != known.state || moved;
}

// True also if only one component lives.
bool has_life(const Job &job)
{
    return !is_ended(job.state) || !left_over(job).empty();
}

std::vector<JobRef> living_refs(const Job &job)
{
    auto left = left_over(job);
    return left.empty() ? std::vector{job.ref} : left;
}

bool is_binder(const Gang &gang, const Job &job)
{
    return std::ranges::any_of(
        gang.pods, [&](const PodPtr &pod) { return bound_by(*pod, job); });
}

// After a crash the job does not have the nodes of the Pods that it bound: it
// waits again, or slurmctld has placed it elsewhere since.
bool lost_allocation(const Gang &gang, const Job &job)
{
    auto without = [&](const PodPtr &pod) {
        return bound_by(*pod, job) &&
               !std::ranges::contains(job.nodes,
                                      pod->annotation(names::node_annotation));
    };
    return job.state == JobState::pending ||
           (!job.nodes.empty() && std::ranges::any_of(gang.pods, without));
}

} // namespace

void Bridge::on(JobsLoaded &loaded)
{
    if (!lists_.take(loaded))
        return;
    std::unordered_map<std::string, std::vector<Job>> by_gang;
    std::set<JobRef> listed;
    batch_pods_.take(*loaded.jobs);
    shared_claims_.take(*loaded.jobs);
    auto bound = bound_batch_pods(gangs_, *context_.conf);
    for (Job &job : *loaded.jobs) {
        listed.insert(job.ref);
        if (register_batch_job(job, bound))
            continue;
        by_gang[job.tag.uid].push_back(std::move(job));
    }
    for (auto &[uid, jobs] : by_gang)
        update_job(uid, jobs);
    // A known job that is missing in the list must be looked up.
    for (auto &[uid, entry] : gangs_.all()) {
        Gang &gang = entry.gang;
        if (gang.job && !is_ended(gang.job->state) &&
            !listed.contains(gang.job->ref) &&
            entry.job_since < lists_.asked() && !entry.ending_job)
            gang.stale = true;
        settle_uncertain(entry);
        voice_.say_pending_reason(entry);
    }
    widen_adoptions();
    first_.add(FirstLists::List::jobs);
    line_.list_came();
    wake_all();
}

void Bridge::update_job(const std::string &uid, std::vector<Job> &jobs)
{
    GangEntry *entry = gangs_.find(uid);
    if (entry && entry->in_flight)
        return; // its outcome is newer than this list
    drop_broken(jobs);
    if (jobs.empty())
        return;
    auto lives = [](const Job &job) { return !is_ended(job.state); };
    // A Pod that this agent, before a restart, has split from its gang.
    if (!entry && std::ranges::any_of(jobs, lives))
        if (std::string alone = gangs_.split(uid); !alone.empty())
            entry = gangs_.find(alone);
    if (!entry) {
        auto alive = std::ranges::find_if(jobs, lives);
        if (alive == jobs.end())
            return; // its Pods are gone, and it has ended
        entry = &gangs_.adopt(alive->tag, context_.now);
        set_first_job(*entry, jobs);
        entry->gang.stale = true; // it may have ended since the list was made
    } else if (!entry->gang.job || entry->gang.submit_uncertain) {
        set_first_job(*entry, jobs);
    }
    std::optional<Job> &current = entry->gang.job; // not set: Slurm has lost it
    bool sure = current && std::ranges::any_of(jobs, [&](const Job &job) {
                    return lives(job) && job.ref == current->ref;
                });
    for (Job &job : jobs) {
        if (!current || job.ref != current->ref) {
            if (has_life(job) && (sure || !is_binder(entry->gang, job)))
                for (JobRef ref : living_refs(job))
                    cancel_duplicate(entry->gang, job, ref);
        } else if (differs(*current, job)) {
            entry->gang.stale = true;
        } else {
            entry->heard = lists_.absences();
            current->reason = job.reason;
            current->expected_start = job.expected_start;
            current->prefers = job.prefers;
            current->features = std::move(job.features);
            if (adopts(entry->gang))
                restore_highest_priority(entry->gang, job.priority);
        }
    }
}

// Of several jobs of one gang, oldest first, returns the one that counts; null
// when none of them says anything about the Pods.
const Job *Bridge::choose_job(const Gang &gang, const std::vector<Job> &jobs)
{
    const Pod *living = nullptr;
    for (const PodPtr &pod : gang.pods)
        if (pod->bound() && binder_of(*pod))
            living = pod.get();
    auto alive = [](const Job &job) { return !is_ended(job.state); };
    // The oldest that lives; otherwise the last that ended, except for those
    // that the agent ended as duplicates of an older one.
    if (!living) {
        auto chosen = std::ranges::find_if(jobs, alive);
        if (chosen == jobs.end())
            chosen = std::ranges::max_element(
                jobs, {}, [](const Job &job) { return job.tag.generation; });
        return &*chosen;
    }
    auto binder = std::ranges::find(jobs, *binder_of(*living), &Job::ref);
    if (binder != jobs.end() && alive(*binder) &&
        binder->state != JobState::pending) // otherwise its allocation is lost
        return &*binder;
    for (const Job &job : jobs) // a job that was to adopt the Pods
        if (alive(job) && job.tag.generation > generation_of(*living))
            return &job;
    return binder == jobs.end() ? nullptr : &*binder;
}

void Bridge::set_first_job(GangEntry &entry, std::vector<Job> &jobs)
{
    std::ranges::sort(jobs, {}, [](const Job &job) { return job.ref.sluid; });
    const Job *chosen = entry.gang.grouped ? choose_gang_job(entry.gang, jobs)
                                           : choose_job(entry.gang, jobs);
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
    entry.gang.submit_uncertain = false;
    set_job(entry, *chosen);
    // The list does not say whether a node failed or was only forgotten.
    if (chosen->state == JobState::node_fail)
        entry.gang.stale = true;
}

// Ends a second job. The job that bound Pods must not be ended unless slurmctld
// knows its successor: if a crash has lost that one, the end of the first would
// be read as a user's request to end the Pods. libslurm waits for a slurmctld
// that is starting.
void Bridge::cancel_duplicate(const Gang &gang, const Job &job, JobRef ref)
{
    log_warning("ending a second job of one gang",
                {{"JobId", ref.id}, {"Gang", job.tag.gang}});
    std::optional<JobRef> successor;
    if (is_binder(gang, job))
        successor = gang.job->ref;
    bool lost = successor && lost_allocation(gang, job);
    std::string words = second_job_message(gang.job, lost);
    errands_.run([ref, successor, words,
                  left = line_.left_since(lists_.absences())](Slurm &slurm) {
        // A job that has ended meanwhile keeps its exit code. If this
        // fails, the next resync tries again.
        auto lives = [&slurm](JobRef one) {
            auto now = slurm.load(one);
            return now && has_life(*now);
        };
        if (!lives(ref))
            return;
        (void)slurm.set_comment(ref, words); // for people only
        if (successor && (!lives(*successor) || left()))
            return;
        (void)slurm.cancel(ref);
    });
}

void Bridge::on(StatesLoaded &loaded)
{
    if (!lists_.take(loaded))
        return;
    std::unordered_map<JobId, JobState> states;
    for (const JobStateHint &hint : *loaded.states)
        states[hint.id] = hint.state;
    for (auto &[uid, entry] : gangs_.all()) {
        Gang &gang = entry.gang;
        if (!gang.job || is_ended(gang.job->state) || entry.in_flight ||
            entry.job_since > lists_.states_asked())
            continue;
        bool was_pending = gang.job->state == JobState::pending;
        bool was_suspended = gang.job->state == JobState::suspended;
        auto has_changed = [&](JobRef ref) {
            auto state = states.find(ref.id);
            return state == states.end() || is_ended(state->second) ||
                   (was_pending && state->second != JobState::pending) ||
                   was_suspended != (state->second == JobState::suspended);
        };
        if (std::ranges::any_of(refs_of(*gang.job), has_changed)) {
            context_.health.count("found_by_poll");
            gang.stale = true;
            agenda_.wake(uid);
        }
    }
}

// If no list had the job of an uncertain submit, there is none.
void Bridge::settle_uncertain(GangEntry &entry)
{
    Gang &gang = entry.gang;
    bool looked = entry.uncertain_since &&
                  lists_.asked() >= *entry.uncertain_since + answer_time;
    if (!gang.submit_uncertain || !looked || entry.in_flight)
        return;
    gang.submit_uncertain = false;
    entry.uncertain_since.reset();
}

} // namespace bridge
