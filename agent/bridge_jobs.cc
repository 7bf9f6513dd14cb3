// SPDX-License-Identifier: GPL-2.0-or-later
// The messages about Slurm's jobs: hooks, lists, and outcomes of actions.
#include "agent/bridge.h"

#include "agent/words.h"
#include "common/log.h"
#include "common/names.h"

#include <algorithm>
#include <unordered_map>

namespace bridge {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds first_retry{500};
constexpr seconds last_retry{30};
constexpr seconds first_refusal{5}; // a job that Slurm would not take
constexpr seconds last_refusal{300};
constexpr seconds renew_pause{1};  // a misfit may be met again
constexpr seconds watch_lag{1};    // until a conflict should have been watched
constexpr seconds end_repeat{30};  // until Pods that live on are ended again
constexpr seconds fail_repeat{10};
constexpr seconds unseen_repeat{60}; // until an unlisted Pod is asked for again
// By then slurmctld has answered, or carried out, what it was sent.
constexpr seconds answer_time{2};

template <class Kind> bool is(const Action &action)
{
    return std::holds_alternative<Kind>(action);
}

Clock::duration back_off(unsigned failures, Clock::duration first,
                         Clock::duration last)
{
    unsigned doublings = std::min(failures, 10u);
    return std::min<Clock::duration>(first * (1 << doublings), last);
}

bool ends_job(const GangEntry &entry)
{
    static const std::size_t kinds[] = {Action(Complete{}).index(),
                                        Action(Cancel{}).index(),
                                        Action(Renew{}).index()};
    return entry.in_flight && std::ranges::contains(kinds, *entry.in_flight);
}

} // namespace

void Bridge::on_allocated(const HookMessage &hook)
{
    health_.count("allocated");
    if (!hook.ours)
        return;
    GangEntry *entry = gangs_.find(hook.job);
    if (!entry) { // the answer to our submit is still under way
        early_hooks_[hook.job] = {hook.type, now_};
        return;
    }
    Gang &gang = entry->gang;
    gang.prolog_held = true;
    if (!is_allocated(gang.job->state) || gang.job->nodes.empty())
        gang.stale = true;
    wake(gang.uid);
}

void Bridge::on_ended(const HookMessage &hook)
{
    health_.count("ended");
    early_hooks_.erase(hook.job);
    if (GangEntry *entry = gangs_.find(hook.job)) {
        Gang &gang = entry->gang;
        gang.prolog_held = false;
        gang.epilog_held = true;
        if (!is_ended(gang.job->state) && !ends_job(*entry))
            gang.stale = true; // how did it end?
        wake(gang.uid);
    } else if (!synced() || gangs_.living_of(hook.job)) {
        early_hooks_[hook.job] = {hook.type, now_};
    } else {
        ports_.send_hook({.type = HookMessage::Type::clean, .job = hook.job});
    }
}

// An epilog that is held for the job before is still owed its answer.
void Bridge::set_job(GangEntry &entry, std::optional<Job> job)
{
    const Gang &gang = entry.gang;
    bool other = gang.job && (!job || job->ref != gang.job->ref);
    if (other && gang.epilog_held)
        early_hooks_[gang.job->ref] = {HookMessage::Type::ended, now_};
    gangs_.set_job(entry, std::move(job));
    if (other || gang.job)
        apply_early_hook(entry);
}

void Bridge::apply_early_hook(GangEntry &entry)
{
    Gang &gang = entry.gang;
    auto early = gang.job ? early_hooks_.find(gang.job->ref)
                          : early_hooks_.end();
    if (early == early_hooks_.end())
        return;
    bool ended = early->second.type == HookMessage::Type::ended;
    early_hooks_.erase(early);
    gang.prolog_held = !ended;
    gang.epilog_held = ended;
    if (gang.job->state == JobState::pending ||
        (ended && !is_ended(gang.job->state)))
        gang.stale = true;
}

// Epilogs of jobs that nobody needs any more are let go as soon as no container
// of theirs can be alive; a prolog that nobody asked for means a job that we do
// not know.
void Bridge::settle_early_hooks()
{
    for (auto early = early_hooks_.begin(); early != early_hooks_.end();) {
        const auto &[job, hook] = *early;
        bool ended = hook.type == HookMessage::Type::ended;
        if (ended && !gangs_.living_of(job)) {
            ports_.send_hook({.type = HookMessage::Type::clean, .job = job});
            early = early_hooks_.erase(early);
            continue;
        }
        if (!ended && now_ - hook.since >= answer_time &&
            jobs_asked_ < hook.since + answer_time)
            list_jobs_soon(); // once: then it has no gang at all
        early++;
    }
}

void Bridge::list_jobs_soon()
{
    jobs_due_ = now_;
    list_again_ = loading_jobs_;
}

// No list had the job of an uncertain submit: there is none.
void Bridge::settle_uncertain(GangEntry &entry)
{
    Gang &gang = entry.gang;
    bool looked = entry.uncertain_since &&
                  jobs_asked_ >= *entry.uncertain_since + answer_time;
    if (!gang.submit_uncertain || !looked || entry.in_flight)
        return;
    gang.submit_uncertain = false;
    entry.uncertain_since.reset();
}

void Bridge::on(JobsLoaded &loaded)
{
    loading_jobs_ = false;
    if (!loaded.jobs) {
        jobs_due_ = now_ + seconds(2);
        problem("slurmctld", loaded.jobs.error().message);
        return;
    }
    solved("slurmctld");
    jobs_due_ = std::exchange(list_again_, false)
                    ? now_
                    : now_ + conf_->resync_interval;
    std::unordered_map<std::string, std::vector<Job>> by_gang;
    std::set<JobRef> listed;
    for (Job &job : *loaded.jobs) {
        listed.insert(job.ref);
        by_gang[job.tag.uid].push_back(std::move(job));
    }
    for (auto &[uid, jobs] : by_gang)
        take_jobs(uid, jobs);
    // What is not listed and was known before the list was made: look for it.
    for (auto &[uid, entry] : gangs_.all()) {
        Gang &gang = entry.gang;
        if (gang.job && !is_ended(gang.job->state) &&
            !listed.contains(gang.job->ref) &&
            entry.job_since < jobs_asked_ && !ends_job(entry))
            gang.stale = true;
        settle_uncertain(entry);
        tell_waiting(entry);
    }
    loaded_jobs_ = true;
    wake_all();
}

void Bridge::take_jobs(const std::string &uid, std::vector<Job> &jobs)
{
    GangEntry *entry = gangs_.find(uid);
    if (entry && entry->in_flight)
        return; // its outcome is newer than this list
    if (!entry) {
        auto alive = std::ranges::find_if(
            jobs, [](const Job &job) { return !is_ended(job.state); });
        if (alive == jobs.end())
            return; // its Pods are gone, and so is it
        entry = &gangs_.adopt(alive->tag);
        take_first_job(*entry, jobs);
        entry->gang.stale = true; // it may have ended since the list was made
    } else if (!entry->gang.job || entry->gang.submit_uncertain) {
        take_first_job(*entry, jobs);
    }
    if (!entry->gang.job)
        return; // its Pods run by a job that Slurm has lost
    Job &current = *entry->gang.job;
    for (Job &job : jobs) {
        if (job.ref != current.ref) {
            if (!is_ended(job.state))
                cancel_duplicate(job);
        } else if (job.state != current.state && !is_ended(current.state)) {
            entry->gang.stale = true;
        } else {
            current.reason = job.reason;
            current.expected_start = job.expected_start;
        }
    }
}

// Of several jobs: the one that bound the Pods, else the oldest that lives,
// else the last that ended.
void Bridge::take_first_job(GangEntry &entry, std::vector<Job> &jobs)
{
    std::ranges::sort(jobs, {}, [](const Job &job) { return job.ref.sluid; });
    std::string bound_by;
    for (const PodPtr &pod : entry.gang.pods)
        if (pod->bound())
            bound_by = pod->annotation(names::sluid_annotation);
    auto chosen = std::ranges::find_if(jobs, [&](const Job &job) {
        return bound_by.empty() ? !is_ended(job.state)
                                : job.ref.sluid.str() == bound_by;
    });
    if (chosen == jobs.end() && !bound_by.empty())
        return; // no other job says anything about these Pods
    if (chosen == jobs.end())
        chosen = std::prev(jobs.end());
    // slurmctld keeps a record of some jobs that it refused: the answer to their
    // submit said all there is to say.
    if (bound_by.empty() && chosen->state == JobState::failed)
        return;
    if (entry.gang.submit_uncertain && is_ended(chosen->state) &&
        chosen->tag.generation < generation_of(entry.gang))
        return; // not the one that is looked for
    entry.gang.submit_uncertain = false;
    set_job(entry, *chosen);
}

void Bridge::cancel_duplicate(const Job &job)
{
    log_warning("ending a second job of one gang",
                {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    ports_.workers.push([&slurm = ports_.slurm, ref = job.ref](Kube &) {
        // A job that has ended meanwhile keeps its exit code. The next resync
        // tries again what fails here.
        auto now = slurm.load(ref);
        if (now && !is_ended(now->state))
            (void)slurm.cancel(ref);
    });
}

void Bridge::on(StatesLoaded &loaded)
{
    loading_states_ = false;
    if (!loaded.states) {
        problem("slurmctld", loaded.states.error().message);
        return;
    }
    solved("slurmctld");
    std::unordered_map<JobId, JobState> states;
    for (const JobStateHint &hint : *loaded.states)
        states[hint.id] = hint.state;
    for (auto &[uid, entry] : gangs_.all()) {
        Gang &gang = entry.gang;
        if (!gang.job || is_ended(gang.job->state) || entry.in_flight ||
            entry.job_since > states_asked_)
            continue;
        auto state = states.find(gang.job->ref.id);
        bool was_pending = gang.job->state == JobState::pending;
        if (state == states.end() || is_ended(state->second) ||
            (was_pending && state->second != JobState::pending)) {
            health_.count("found_by_poll");
            gang.stale = true;
            wake(uid);
        }
    }
}

void Bridge::on(ActionDone &done)
{
    GangEntry *entry = gangs_.find(done.gang);
    if (!entry)
        return;
    entry->in_flight.reset();
    wake(done.gang);
    health_.count_action(action_name(done.action),
                         done.outcome ? "ok"
                                      : code_name(done.outcome.error().code));
    if (!done.outcome) {
        note_failure(*entry, done);
        return;
    }
    // A look that worked says nothing about the action that failed before it.
    if (!is<Look>(done.action) || entry->held_back == done.action.index()) {
        entry->failures = 0;
        entry->held_back.reset();
    }
    note_outcome(*entry, done);
}

void Bridge::note_outcome(GangEntry &entry, ActionDone &done)
{
    Gang &gang = entry.gang;
    if (auto *submitted = std::get_if<Submitted>(&*done.outcome)) {
        Job job;
        job.ref = submitted->job;
        job.tag = {gang.key.str(), gang.uid, generation_of(gang)};
        job.state = JobState::pending;
        log_info("submitted", {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
        gang.submit_uncertain = false;
        set_job(entry, std::move(job));
    } else if (auto *looked = std::get_if<Looked>(&*done.outcome)) {
        if (looked->job.tag.uid.empty()) // somebody wrote over admin_comment
            looked->job.tag = gang.job ? gang.job->tag : GangTag{};
        set_job(entry, std::move(looked->job));
    } else if (auto *there = std::get_if<StillThere>(&*done.outcome)) {
        log_warning("a job's Pod is in no list, but it is there",
                    {{"Gang", gang.key.str()}});
        if (there->pod.terminal())
            gangs_.put(std::move(there->pod)); // the job gets its exit code
        else
            hold_back(entry, done.action, unseen_repeat);
    } else {
        note_done(entry, done.action);
    }
}

void Bridge::note_done(GangEntry &entry, const Action &action)
{
    Gang &gang = entry.gang;
    if (auto *bind = std::get_if<Bind>(&action)) {
        gang.assumed_bound = !gang.pods.empty();
        gang.maybe_bound = gang.bind_overdue = false;
        entry.bind_failing_since.reset();
        entry.renewals = 0;
        log_info("bound", {{"JobId", bind->job.id},
                           {"Gang", gang.key.str()},
                           {"NodeList", gang.job ? gang.job->nodes.front()
                                                 : std::string()}});
        tell_bound(gang, bind->nodes);
    } else if (is<Complete>(action) || is<Cancel>(action) ||
               is<Renew>(action)) {
        if (gang.job && !is_ended(gang.job->state))
            gang.job->state =
                is<Complete>(action) ? JobState::completed : JobState::cancelled;
        if (auto *renew = std::get_if<Renew>(&action)) {
            gang.least_generation = renew->generation;
            gang.bind_overdue = false;
            entry.bind_failing_since.reset();
            log_warning("a new job is needed", {{"Gang", gang.key.str()},
                                                {"err", renew->why}});
            hold_back(entry, Submit{},
                      back_off(entry.renewals++, renew_pause, last_refusal));
        }
        log_info("ended the job", {{"JobId", gang.job ? gang.job->ref.id : 0},
                                   {"Gang", gang.key.str()},
                                   {"action", action_name(action)}});
    } else if (is<EndPods>(action)) {
        hold_back(entry, action, end_repeat);
    } else if (is<FailPods>(action)) {
        hold_back(entry, action, fail_repeat);
    }
}

void Bridge::note_failure(GangEntry &entry, const ActionDone &done)
{
    Gang &gang = entry.gang;
    const Error &error = done.outcome.error();
    if (is<Look>(done.action) && error.code == Code::not_found) {
        log_warning("Slurm does not know the job any more",
                    {{"JobId", gang.job ? gang.job->ref.id : 0},
                     {"Gang", gang.key.str()}});
        set_job(entry, std::nullopt);
        return;
    }
    bool for_the_user =
        error.code == Code::rejected || error.code == Code::denied;
    log_warning(for_the_user ? "refused" : "failed, retrying",
                {{"action", action_name(done.action)},
                 {"Gang", gang.key.str()},
                 {"JobId", gang.job ? gang.job->ref.id : 0},
                 {"err", error.message}});
    Clock::duration delay = back_off(entry.failures, first_retry, last_retry);
    if (is<Bind>(done.action)) {
        note_bind_failure(entry, error);
        if (for_the_user)
            delay = back_off(entry.failures, first_refusal, last_retry);
        else if (error.code == Code::conflict || error.code == Code::not_found)
            delay = watch_lag;
    } else if (is<Submit>(done.action) && for_the_user) {
        delay = back_off(entry.failures, first_refusal, last_refusal);
        tell(entry, refused_words(error.message));
    } else if (is<Submit>(done.action) && error.code == Code::uncertain) {
        gang.submit_uncertain = true;
        entry.uncertain_since = now_;
    } else if (is<Look>(done.action) || is<Complete>(done.action) ||
               is<Cancel>(done.action) || is<Renew>(done.action)) {
        gang.stale = gang.job.has_value();
    }
    entry.failures++;
    hold_back(entry, done.action, delay);
}

void Bridge::note_bind_failure(GangEntry &entry, const Error &error)
{
    Gang &gang = entry.gang;
    if (error.code == Code::uncertain)
        gang.maybe_bound = true;
    if (gang.job &&
        (error.code == Code::rejected || error.code == Code::denied))
        tell(entry, not_bound_words(gang.job->ref, error.message));
    if (!entry.bind_failing_since)
        entry.bind_failing_since = now_;
    if (now_ - *entry.bind_failing_since >= conf_->bind_timeout)
        gang.bind_overdue = true;
}

void Bridge::hold_back(GangEntry &entry, const Action &action,
                       Clock::duration delay)
{
    entry.held_back = action.index();
    entry.held_until = now_ + delay;
}

// What was refused may be possible now.
void Bridge::try_again(GangEntry &entry)
{
    if (entry.held_back == Action(Submit{}).index() && !entry.in_flight) {
        entry.held_back.reset();
        entry.failures = 0;
    }
    wake(entry.gang.uid);
}

} // namespace bridge
