// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/outcomes.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gang/flags.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"
#include "common/base/overloaded.h"
#include "common/slurm/het_job.h"

#include <set>
#include <utility>

namespace bridge {

namespace {

using std::chrono::seconds;

constexpr seconds end_repeat{30}; // until living Pods are ended again
constexpr seconds fail_repeat{10};
constexpr seconds resume_repeat{1};  // until slurmctld says that it runs
constexpr seconds unseen_repeat{60}; // until an unlisted Pod is asked for again

std::string node_list(const std::vector<Seat> &seats)
{
    constexpr std::size_t most = 8; // in a log line
    std::set<std::string> nodes;
    for (const Seat &seat : seats)
        nodes.insert(seat.node);
    std::string list;
    std::size_t shown = 0;
    for (const std::string &node : nodes)
        if (shown++ < most)
            list += (list.empty() ? "" : ",") + node;
    return nodes.size() <= most
               ? list
               : list + ",…(" + std::to_string(nodes.size()) + ")";
}

} // namespace

void Outcomes::take(ActionDone &done)
{
    if (const auto *bind = std::get_if<Bind>(&done.action))
        to_.devices.end_writes(done.gang, *bind);
    GangEntry *entry = to_.gangs.find(done.gang);
    if (!entry)
        return;
    entry->in_flight.reset();
    entry->ending_job = false;
    to_.agenda.wake(done.gang);
    to_.context.health.count_action(
        action_name(done.action),
        done.outcome ? "ok" : code_name(done.outcome.error().code));
    if (!done.outcome) {
        to_.failures.take(*entry, done);
        return;
    }
    to_.attempts.worked(*entry, done.action);
    record_outcome(*entry, done.action, *done.outcome);
}

void Outcomes::record_outcome(GangEntry &entry, const Action &action,
                              Outcome &outcome)
{
    Overloaded cases{
        [&](Done &) { record_done(entry, action); },
        [&](Submitted &submitted) {
            record_submitted(entry, submitted, action);
        },
        [&](Looked &looked) {
            record_job_read(entry, looked);
            if (is_kind<Remake>(action))
                to_.attempts.hold(entry, action, watch_lag);
        },
        [&](StillThere &there) { record_still_there(entry, there, action); },
        [&](VolumesSeen &seen) { to_.volumes.take(entry, seen, action); },
        [&](PodsEnded &ended) {
            for (const std::string &pod : ended.never_bound)
                entry.gang.maybe_bound.erase(pod);
            to_.attempts.hold(entry, action, end_repeat);
        },
        [&](ClaimsRefused &refused) {
            to_.device_troubles.refused(entry, refused);
            if (refused.no_extended)
                to_.extended.turn_off();
        },
    };
    std::visit(cases, outcome);
}

void Outcomes::record_still_there(GangEntry &entry, StillThere &there,
                                  const Action &action)
{
    const Gang &gang = entry.gang;
    log_warning("a job's Pod is missing from the list, but it exists",
                {{"Gang", gang.key.str()}});
    to_.groups.note(there.pod);
    there.pod.gang = to_.groups.gang_of(there.pod);
    bool over = there.pod.terminal(); // the job gets its exit code
    bool taken = over && to_.gangs.put(std::move(there.pod)) == gang.uid;
    if (!taken) // or it has left this gang
        to_.attempts.hold(entry, action, unseen_repeat);
}

void Outcomes::record_submitted(GangEntry &entry, const Submitted &submitted,
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
    log_info(is_kind<Adopt>(action) ? "adopting running Pods" : "submitted",
             {{"JobId", job.ref.id}, {"Gang", job.tag.gang}});
    if (is_kind<Adopt>(action))
        to_.voice.warn(gang, "SlurmJobAdopted", adopting_message(job.ref));
    settle_submit(entry);
    entry.heard = entry.began;
    entry.by_wish = submitted.by_wish;
    bool het = job.tag.components != 0;
    to_.gang_jobs.set(entry, std::move(job));
    if (het)
        doubt_job(gang, "its components must be read");
    to_.attempts.same_again(gang.uid);
    // If somebody ends that job as well, the next one is not requested at once.
    if (is_kind<Adopt>(action))
        to_.attempts.hold(entry, action, Attempts::renewal_pause(entry));
}

void Outcomes::record_job_read(GangEntry &entry, Looked &looked)
{
    Gang &gang = entry.gang;
    if (looked.job.tag.uid.empty()) // somebody overwrote admin_comment
        looked.job.tag = gang.job ? gang.job->tag : GangTag{};
    bool was_suspended = gang.job && gang.job->state == JobState::suspended;
    entry.heard = entry.began;
    to_.gang_jobs.set(entry, std::move(looked.job));
    gang.node_down = looked.node_down;
    if (gang.job->state == JobState::suspended && !was_suspended) {
        bool again = gang.job->resumed;
        log_warning(again ? "a job was suspended again, and is cancelled"
                          : "a job was suspended, and is resumed",
                    {{"JobId", gang.job->ref.id}, {"Gang", gang.key.str()}});
        to_.voice.warn(gang, "SlurmJobSuspended",
                       again ? suspended_again_message(gang.job->ref)
                             : suspended_message(gang.job->ref));
    }
}

void Outcomes::record_bound(GangEntry &entry, const Bind &bind)
{
    Gang &gang = entry.gang;
    auto seats = seats_of(gang, bind);
    const auto seen = seen_bound(gang);
    for (const Seat &seat : seats) {
        gang.maybe_bound.erase(seat.pod);
        if (!seen.contains(seat.pod))
            gang.assumed_bound.insert_or_assign(seat.pod, seat);
    }
    Attempts::bound(entry);
    if (!gang.grouped)
        gang.maybe_bound.clear();
    log_info("bound", {{"JobId", bind.job.id},
                       {"Gang", gang.key.str()},
                       {"NodeList", node_list(seats)}});
    to_.voice.say_bound(gang, bind);
}

void Outcomes::record_done(GangEntry &entry, const Action &action)
{
    Gang &gang = entry.gang;
    auto hold = [&](Clock::duration pause) {
        to_.attempts.hold(entry, action, pause);
    };
    Overloaded cases{
        [&](const Bind &bind) { record_bound(entry, bind); },
        [&](const Complete &) { record_job_ended(entry, action); },
        [&](const Cancel &) { record_job_ended(entry, action); },
        [&](const Renew &) { record_job_ended(entry, action); },
        [&](const Restamp &) {
            // The earlier job may live: end it as a duplicate.
            to_.lists.list_soon();
            Attempts::restamped(entry);
            hold(watch_lag);
        },
        [&](const ReleaseClaims &) { hold(watch_lag); },
        [&](const Look &look) { // see agent/act/remake.h
            to_.batch_intake.remade(entry, look.job);
        },
        [&](const Remake &remake) {
            to_.batch_intake.remade(entry, remake.job);
            hold(watch_lag);
        },
        [&](const FailPods &) { hold(fail_repeat); },
        [&](const ResumeJob &) {
            doubt_job(gang, "it was to be resumed");
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

void Outcomes::record_job_ended(GangEntry &entry, const Action &action)
{
    Gang &gang = entry.gang;
    if (gang.job && !left_over(*gang.job).empty())
        doubt_job(gang, "some components may not have ended");
    if (gang.job && !is_ended(gang.job->state))
        gang.job->state = is_kind<Complete>(action) ? JobState::completed
                                                    : JobState::cancelled;
    if (const auto *renew = std::get_if<Renew>(&action))
        record_renewed(entry, *renew);
    log_info("ended the job", {{"JobId", gang.job ? gang.job->ref.id : 0},
                               {"Gang", gang.key.str()},
                               {"action", action_name(action)}});
}

void Outcomes::record_renewed(GangEntry &entry, const Renew &renew)
{
    Gang &gang = entry.gang;
    gang.least_generation = renew.generation;
    Attempts::given_up(entry);
    gang.maybe_bound.clear(); // no Pod had been bound
    to_.device_troubles.given_up(entry);
    VolumeLooks::forget(entry);
    log_warning("a new job is needed",
                {{"Gang", gang.key.str()}, {"err", renew.reason}});
    Clock::duration pause = to_.attempts.pause_submit(entry);
    report_given_up(entry, renew, pause);
}

// Until the next job is requested nothing else says why the Pods wait.
void Outcomes::report_given_up(GangEntry &entry, const Renew &renew,
                               Clock::duration pause)
{
    const Gang &gang = entry.gang;
    if (pause < told_after)
        return;
    bool for_its_devices = gang.devices && gang.devices->plan.bad_node;
    std::string node = for_its_devices ? gang.devices->node : std::string();
    to_.voice.say(entry, given_up_message(renew.job, node, renew.reason,
                                          std::chrono::ceil<seconds>(pause)));
}

} // namespace bridge
