// SPDX-License-Identifier: GPL-2.0-or-later
// What an action that worked changes. failure.cc has those that failed.
#include "agent/owner/bridge.h"

#include "agent/decide/messages.h"
#include "agent/owner/pauses.h"
#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/overloaded.h"
#include "common/slurm/het_job.h"

namespace bridge {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds end_repeat{30}; // until living Pods are ended again
constexpr seconds fail_repeat{10};
constexpr seconds resume_repeat{1}; // until slurmctld says that it runs
constexpr milliseconds first_volume_look{250}; // until claims are bound
constexpr seconds last_bind_look{5};
constexpr seconds first_claim_look{1}; // until claims exist
constexpr seconds last_claim_look{30};
constexpr seconds volumes_believed{60};
constexpr seconds unseen_repeat{60}; // until an unlisted Pod is asked for again

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
    record_outcome(*entry, done.action, *done.outcome);
}

void Bridge::record_outcome(GangEntry &entry, const Action &action,
                            Outcome &outcome)
{
    Overloaded cases{
        [&](Done &) { record_done(entry, action); },
        [&](Submitted &submitted) {
            record_submitted(entry, submitted, action);
        },
        [&](Looked &looked) {
            record_job_read(entry, looked);
            if (is<Remake>(action))
                attempts_.hold(entry, action, watch_lag);
        },
        [&](StillThere &there) { record_still_there(entry, there, action); },
        [&](VolumesSeen &seen) { record_volumes(entry, seen, action); },
        [&](PodsEnded &ended) {
            for (const std::string &pod : ended.never_bound)
                entry.gang.maybe_bound.erase(pod);
            attempts_.hold(entry, action, end_repeat);
        },
        [&](ClaimsRefused &refused) {
            device_troubles_.refused(entry, refused);
            if (refused.no_extended)
                extended_.turn_off();
        },
    };
    std::visit(cases, outcome);
}

void Bridge::record_still_there(GangEntry &entry, StillThere &there,
                                const Action &action)
{
    const Gang &gang = entry.gang;
    log_warning("a job's Pod is missing from the list, but it exists",
                {{"Gang", gang.key.str()}});
    groups_.note(there.pod);
    there.pod.gang = groups_.gang_of(there.pod);
    bool over = there.pod.terminal(); // the job gets its exit code
    bool taken = over && gangs_.put(std::move(there.pod)) == gang.uid;
    if (!taken) // or it has left this gang
        attempts_.hold(entry, action, unseen_repeat);
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
    auto hold = [&](Clock::duration pause) {
        attempts_.hold(entry, action, pause);
    };
    Overloaded cases{
        [&](const Bind &bind) { record_bound(entry, bind); },
        [&](const Complete &) { record_job_ended(entry, action); },
        [&](const Cancel &) { record_job_ended(entry, action); },
        [&](const Renew &) { record_job_ended(entry, action); },
        [&](const Restamp &) {
            // The earlier job may live: end it as a duplicate.
            lists_.list_soon();
            entry.renewals = 0;
            hold(watch_lag);
        },
        [&](const ReleaseClaims &) { hold(watch_lag); },
        [&](const Look &look) { // see agent/act/remake.h
            record_remade(entry, look.job);
        },
        [&](const Remake &remake) {
            record_remade(entry, remake.job);
            hold(watch_lag);
        },
        [&](const FailPods &) { hold(fail_repeat); },
        [&](const ResumeJob &) {
            gang.stale = gang.job.has_value();
            hold(resume_repeat);
        },
        // The outcomes of these say more than Done.
        [](const Submit &) {},
        [](const Adopt &) {},
        [](const LookVolumes &) {},
        [](const BindVolumes &) {},
        [](const EndPods &) {},
    };
    std::visit(cases, action);
}

void Bridge::record_job_ended(GangEntry &entry, const Action &action)
{
    Gang &gang = entry.gang;
    gang.stale |= gang.job && !left_over(*gang.job).empty();
    if (gang.job && !is_ended(gang.job->state))
        gang.job->state =
            is<Complete>(action) ? JobState::completed : JobState::cancelled;
    if (const auto *renew = std::get_if<Renew>(&action))
        record_renewed(entry, *renew);
    log_info("ended the job", {{"JobId", gang.job ? gang.job->ref.id : 0},
                               {"Gang", gang.key.str()},
                               {"action", action_name(action)}});
}

void Bridge::record_renewed(GangEntry &entry, const Renew &renew)
{
    Gang &gang = entry.gang;
    gang.least_generation = renew.generation;
    gang.bind_overdue = false;
    gang.maybe_bound.clear(); // no Pod had been bound
    device_troubles_.given_up(entry);
    gang.volumes.reset();
    entry.bind_failing_since.reset();
    log_warning("a new job is needed",
                {{"Gang", gang.key.str()}, {"err", renew.reason}});
    Clock::duration pause = Attempts::renewal_pause(entry);
    attempts_.hold(entry, Submit{}, pause);
    entry.submit_after = context_.now + pause;
    report_given_up(entry, renew, pause);
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

} // namespace bridge
