// SPDX-License-Identifier: GPL-2.0-or-later
// What the outcome of an action changes, and when the action is tried again.
#include "agent/owner/bridge.h"

#include "agent/decide/messages.h"
#include "agent/decide/too_large.h"
#include "agent/gang/facts.h"
#include "agent/owner/pauses.h"
#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <array>

namespace bridge {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds first_retry{500};
constexpr seconds last_retry{30};
constexpr seconds first_refusal_pause{5}; // after Slurm refused a job
constexpr seconds last_refusal_pause{300};
constexpr seconds watch_lag{1};   // until the watch should show a conflict
constexpr seconds end_repeat{30}; // until living Pods are ended again
constexpr seconds fail_repeat{10};
constexpr seconds resume_repeat{1}; // until slurmctld says that it runs
constexpr milliseconds first_volume_look{250}; // until claims are bound
constexpr seconds last_bind_look{5};
constexpr seconds first_claim_look{1}; // until claims exist
constexpr seconds last_claim_look{30};
constexpr seconds volumes_believed{60};
constexpr seconds unseen_repeat{60}; // until an unlisted Pod is asked for again

template <class Kind> const std::size_t index_of = Action(Kind{}).index();

// What the user, or an administrator, must change.
bool is_refusal(const Error &error)
{
    return error.code == Code::rejected || error.code == Code::denied;
}

template <class Kind> bool is(const Action &action)
{
    return std::holds_alternative<Kind>(action);
}

} // namespace

void Bridge::on(ActionDone &done)
{
    if (const auto *bind = std::get_if<Bind>(&done.action))
        devices_.end_writes(done.gang, *bind);
    GangEntry *entry = gangs_.find(done.gang);
    if (!entry)
        return;
    entry->in_flight.reset();
    entry->ending_job = false;
    agenda_.wake(done.gang);
    context_.health.count_action(
        action_name(done.action),
        done.outcome ? "ok" : code_name(done.outcome.error().code));
    if (!done.outcome) {
        record_failure(*entry, done);
        return;
    }
    attempts_.worked(*entry, done.action);
    record_outcome(*entry, done);
}

void Bridge::record_outcome(GangEntry &entry, ActionDone &done)
{
    Gang &gang = entry.gang;
    if (auto *submitted = std::get_if<Submitted>(&*done.outcome)) {
        record_submitted(entry, *submitted, done.action);
    } else if (auto *looked = std::get_if<Looked>(&*done.outcome)) {
        record_job_read(entry, *looked);
        if (is<Remake>(done.action))
            attempts_.hold(entry, done.action, watch_lag);
    } else if (auto *seen = std::get_if<VolumesSeen>(&*done.outcome)) {
        record_volumes(entry, *seen, done.action);
    } else if (auto *ended = std::get_if<PodsEnded>(&*done.outcome)) {
        for (const std::string &pod : ended->never_bound)
            gang.maybe_bound.erase(pod);
        attempts_.hold(entry, done.action, end_repeat);
    } else if (auto *refused = std::get_if<ClaimsRefused>(&*done.outcome)) {
        device_troubles_.refused(entry, *refused);
        if (refused->no_extended)
            extended_.turn_off();
    } else if (auto *there = std::get_if<StillThere>(&*done.outcome)) {
        log_warning("a job's Pod is missing from the list, but it exists",
                    {{"Gang", gang.key.str()}});
        groups_.note(there->pod);
        there->pod.gang = groups_.gang_of(there->pod);
        bool over = there->pod.terminal(); // the job gets its exit code
        bool taken = over && gangs_.put(std::move(there->pod)) == gang.uid;
        if (!taken) // or it has left this gang
            attempts_.hold(entry, done.action, unseen_repeat);
    } else {
        record_done(entry, done.action);
    }
}

void Bridge::record_submitted(GangEntry &entry, const Submitted &submitted,
                              const Action &action)
{
    Gang &gang = entry.gang;
    Job job;
    job.ref = submitted.job;
    job.tag = submitted.tag;
    job.state = JobState::pending;
    job.memory_per_node = submitted.memory_per_node;
    job.memory_per_cpu = submitted.memory_per_cpu;
    job.features = submitted.features;
    job.tasks = submitted.tasks;
    job.cpus_per_task = submitted.cpus_per_task;
    job.gres_per_task = submitted.gres_per_task;
    log_info(is<Adopt>(action) ? "adopting running Pods" : "submitted",
             {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    if (is<Adopt>(action))
        voice_.warn(gang, "SlurmJobAdopted", adopting_message(job.ref));
    gang.submit_uncertain = false;
    entry.heard = entry.began;
    entry.by_wish = submitted.by_wish;
    bool het = job.tag.components != 0;
    gang_jobs_.set(entry, std::move(job));
    gang.stale |= het; // its components must be read
    attempts_.same_again(gang.uid);
    // If somebody ends that job as well, the next one is not requested at once.
    if (is<Adopt>(action))
        attempts_.hold(entry, action, Attempts::renewal_pause(entry));
}

void Bridge::record_volumes(GangEntry &entry, VolumesSeen &seen,
                            const Action &action)
{
    Gang &gang = entry.gang;
    gang.volumes = std::move(seen.needs);
    entry.claims_read = std::move(seen.claims);
    bool enough = gang.volumes->reason.empty() &&
                  (is<LookVolumes>(action) || !gang.volumes->unbound);
    Clock::duration delay =
        is<BindVolumes>(action)
            ? doubled<Clock::duration>(first_volume_look, last_bind_look,
                                       entry.volume_looks)
            : doubled<Clock::duration>(first_claim_look, last_claim_look,
                                       entry.volume_looks);
    entry.volumes_due = context_.now + (enough ? volumes_believed : delay);
    if (enough) {
        entry.volume_looks = 0;
        entry.bind_failing_since.reset();
    } else if (is<BindVolumes>(action)) {
        record_bind_delay(entry);
        attempts_.hold(entry, action, delay);
        if (entry.volume_looks > 2 && gang.job)
            voice_.say(entry, volumes_wait_message(gang.job->ref,
                                                   gang.volumes->reason));
    }
    if (!enough)
        entry.volume_looks++;
}

void Bridge::record_job_read(GangEntry &entry, Looked &looked)
{
    Gang &gang = entry.gang;
    if (looked.job.tag.uid.empty()) // somebody overwrote admin_comment
        looked.job.tag = gang.job ? gang.job->tag : GangTag{};
    bool was_suspended = gang.job && gang.job->state == JobState::suspended;
    entry.heard = entry.began;
    gang_jobs_.set(entry, std::move(looked.job));
    gang.node_down = looked.node_down;
    if (gang.job->state == JobState::suspended && !was_suspended) {
        bool again = gang.job->resumed;
        log_warning(again ? "a job was suspended again, and is cancelled"
                          : "a job was suspended, and is resumed",
                    {{"JobId", gang.job->ref.id}, {"Gang", gang.key.str()}});
        voice_.warn(gang, "SlurmJobSuspended",
                    again ? suspended_again_message(gang.job->ref)
                          : suspended_message(gang.job->ref));
    }
}

void Bridge::record_done(GangEntry &entry, const Action &action)
{
    Gang &gang = entry.gang;
    if (auto *bind = std::get_if<Bind>(&action)) {
        record_bound(entry, *bind);
    } else if (is<Complete>(action) || is<Cancel>(action) ||
               is<Renew>(action)) {
        gang.stale |= gang.job && !left_over(*gang.job).empty();
        if (gang.job && !is_ended(gang.job->state))
            gang.job->state = is<Complete>(action) ? JobState::completed
                                                   : JobState::cancelled;
        if (auto *renew = std::get_if<Renew>(&action)) {
            gang.least_generation = renew->generation;
            gang.bind_overdue = false;
            gang.maybe_bound.clear(); // no Pod had been bound
            device_troubles_.given_up(entry);
            gang.volumes.reset();
            entry.bind_failing_since.reset();
            log_warning("a new job is needed",
                        {{"Gang", gang.key.str()}, {"err", renew->reason}});
            Clock::duration pause = Attempts::renewal_pause(entry);
            attempts_.hold(entry, Submit{}, pause);
            entry.submit_after = context_.now + pause;
            report_given_up(entry, *renew, pause);
        }
        log_info("ended the job", {{"JobId", gang.job ? gang.job->ref.id : 0},
                                   {"Gang", gang.key.str()},
                                   {"action", action_name(action)}});
    } else if (is<Restamp>(action)) {
        lists_.list_soon(); // the earlier job may live: end it as a duplicate
        entry.renewals = 0;
        attempts_.hold(entry, action, watch_lag);
    } else if (is<ReleaseClaims>(action)) {
        attempts_.hold(entry, action, watch_lag);
    } else if (auto *look =
                   std::get_if<Look>(&action)) { // see agent/act/remake.h
        record_remade(entry, look->job);
    } else if (auto *remake = std::get_if<Remake>(&action)) {
        record_remade(entry, remake->job);
        attempts_.hold(entry, action, watch_lag);
    } else if (is<FailPods>(action)) {
        attempts_.hold(entry, action, fail_repeat);
    } else if (is<ResumeJob>(action)) {
        gang.stale = gang.job.has_value();
        attempts_.hold(entry, action, resume_repeat);
    }
}

// Until the next job is requested nothing else says why the Pods wait.
void Bridge::report_given_up(GangEntry &entry, const Renew &renew,
                             Clock::duration pause)
{
    const Gang &gang = entry.gang;
    if (pause < told_after)
        return;
    bool for_its_devices = gang.devices && gang.devices->plan.bad_node;
    std::string node = for_its_devices ? gang.devices->node : std::string();
    voice_.say(entry, given_up_message(renew.job, node, renew.reason,
                                       std::chrono::ceil<seconds>(pause)));
}

// What a failure means depends on the action and on the code. A row: how long
// the action pauses when it was refused and, with watch_shows, that after a
// conflict (for `gone` also if the object is not found) the watch is waited
// for; stale: the job must be read again; note: what else follows.
struct FailureRule {
    std::size_t action;
    Clock::duration refused_first = first_retry;
    Clock::duration refused_last = last_retry;
    bool watch_shows = false;
    bool gone = false;
    bool stale = false;
    // Returns the shortest pause.
    Clock::duration (Bridge::*note)(GangEntry &, const ActionDone &) = nullptr;
};

const FailureRule &Bridge::failure_rule(const Action &action)
{
    static const std::array rules = {
        FailureRule{.action = index_of<Bind>,
                    .refused_first = first_refusal_pause,
                    .watch_shows = true,
                    .gone = true,
                    .note = &Bridge::bind_failed},
        FailureRule{.action = index_of<BindVolumes>,
                    .watch_shows = true,
                    .note = &Bridge::volumes_failed},
        FailureRule{.action = index_of<LookVolumes>,
                    .watch_shows = true,
                    .note = &Bridge::volumes_failed},
        FailureRule{.action = index_of<Submit>,
                    .refused_first = first_refusal_pause,
                    .refused_last = last_refusal_pause,
                    .note = &Bridge::submit_failed},
        FailureRule{.action = index_of<Adopt>,
                    .refused_first = first_refusal_pause,
                    .refused_last = last_refusal_pause,
                    .note = &Bridge::adopt_failed},
        FailureRule{.action = index_of<Look>, .stale = true},
        FailureRule{.action = index_of<Complete>, .stale = true},
        FailureRule{.action = index_of<Cancel>, .stale = true},
        FailureRule{.action = index_of<Renew>, .stale = true},
        FailureRule{.action = index_of<Remake>, .stale = true},
        FailureRule{.action = index_of<ResumeJob>, .stale = true},
    };
    static const FailureRule others{.action = std::variant_npos};
    auto rule = std::ranges::find(rules, action.index(), &FailureRule::action);
    return rule == rules.end() ? others : *rule;
}

void Bridge::record_failure(GangEntry &entry, const ActionDone &done)
{
    Gang &gang = entry.gang;
    const Error &error = done.outcome.error();
    if (is<Look>(done.action) && error.code == Code::not_found) {
        log_warning("Slurm does not know the job any more",
                    {{"JobId", gang.job ? gang.job->ref.id : 0},
                     {"Gang", gang.key.str()}});
        gang_jobs_.set(entry, std::nullopt);
        return;
    }
    log_warning(is_refusal(error) ? "refused" : "failed, retrying",
                {{"action", action_name(done.action)},
                 {"Gang", gang.key.str()},
                 {"JobId", gang.job ? gang.job->ref.id : 0},
                 {"err", error.message}});
    const FailureRule &rule = failure_rule(done.action);
    Clock::duration delay =
        is_refusal(error)
            ? Attempts::pause_for(entry, rule.refused_first, rule.refused_last)
            : Attempts::pause_for(entry, first_retry, last_retry);
    if ((rule.watch_shows && error.code == Code::conflict) ||
        (rule.gone && error.code == Code::not_found))
        delay = watch_lag;
    if (rule.note)
        delay = std::max(delay, (this->*rule.note)(entry, done));
    if (rule.stale)
        gang.stale = gang.job.has_value();
    attempts_.failed(entry, done.action, error.message,
                     std::max<Clock::duration>(delay, error.retry_after));
}

Clock::duration Bridge::submit_failed(GangEntry &entry, const ActionDone &done)
{
    Gang &gang = entry.gang;
    const Error &error = done.outcome.error();
    if (error.code == Code::uncertain)
        submit_uncertain(entry);
    if (!is_refusal(error))
        return {};
    Clock::duration pause = attempts_.refused(gang, error.message);
    voice_.say(entry, submit_refused_message(error.message) +
                          asked_message(gang, error.message) +
                          (entry.excluded.empty()
                               ? std::string()
                               : devices_unfit_message(entry.excluded_reason)));
    return pause;
}

Clock::duration Bridge::adopt_failed(GangEntry &entry, const ActionDone &done)
{
    const Error &error = done.outcome.error();
    if (error.code == Code::uncertain)
        submit_uncertain(entry);
    if (!is_refusal(error))
        return {};
    if (entry.told != error.message)
        voice_.warn(entry.gang, "SlurmJobNotAdopted",
                    not_adopted_message(error.message));
    entry.told = error.message;
    return {};
}

void Bridge::submit_uncertain(GangEntry &entry)
{
    entry.gang.submit_uncertain = true;
    entry.uncertain_since = context_.now;
}

Clock::duration Bridge::volumes_failed(GangEntry &entry, const ActionDone &done)
{
    const Error &error = done.outcome.error();
    if (is<BindVolumes>(done.action))
        record_bind_delay(entry);
    if (is_refusal(error))
        voice_.say(entry, claims_unreadable_message(error.message));
    return {};
}

Clock::duration Bridge::bind_failed(GangEntry &entry, const ActionDone &done)
{
    Gang &gang = entry.gang;
    const Error &error = done.outcome.error();
    const Bind &bind = std::get<Bind>(done.action);
    // This code is never returned for the write of a claim.
    if (error.code == Code::uncertain)
        for (const Seat &seat : seats_of(gang, bind))
            if (!is_seen_bound(gang, seat.pod))
                gang.maybe_bound.insert_or_assign(seat.pod, seat);
    if (gang.job && is_refusal(error))
        voice_.say(entry, not_bound_message(gang.job->ref, error.message));
    record_bind_delay(entry);
    return {};
}

void Bridge::record_bind_delay(GangEntry &entry)
{
    if (!entry.bind_failing_since)
        entry.bind_failing_since = context_.now;
    if (context_.now - *entry.bind_failing_since >= context_.conf->bind_timeout)
        entry.gang.bind_overdue = true;
}

} // namespace bridge
