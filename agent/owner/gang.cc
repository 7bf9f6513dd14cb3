// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that belong together: what they say of their gang, and what changes with
// time.
#include "agent/owner/bridge.h"

#include "agent/decide/gang_place.h"
#include "agent/decide/messages.h"
#include "agent/decide/translate.h"
#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"
#include "common/base/log.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <functional>

namespace bridge {

namespace {

constexpr std::chrono::seconds first_alone{5};
constexpr std::chrono::seconds growing_pause{1};
// The controller of Jobs gathers the ends of Pods for a second before it makes
// the next ones, so that those of one round may come in two parts.
constexpr std::chrono::seconds refill_pause{3};

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

// Notes the failure of Pods that ended by themselves. When a Pod fails, its
// controller deletes the others, and then the Pod itself.
void record_failed_pod(Gang &gang)
{
    auto known = std::ranges::find_if(gang.pods, [&](const PodPtr &pod) {
        return pod->uid == gang.failed_pod;
    });
    if (gang.failure && (known == gang.pods.end() || (*known)->deleting))
        return;
    gang.failure.reset();
    auto has_failed = [](const PodPtr &pod) {
        return pod->phase == "Failed" && !pod->deleting;
    };
    if (std::ranges::none_of(gang.pods, has_failed))
        return;
    Gang failed = gang;
    failed.pods = last_of_job(gang);
    std::erase_if(failed.pods, std::not_fn(has_failed));
    if (failed.pods.empty())
        return;
    gang.failure = end_of(failed);
    gang.failed_pod = failed.pods.front()->uid;
}

// Notes the end now, because the Pod may be deleted before slurmctld takes its
// end.
void record_end(Gang &gang)
{
    auto ended = [&](const PodPtr &pod) {
        return ended_by_job(gang, *pod) && !pod->deleting;
    };
    if (std::ranges::any_of(gang.pods, ended))
        gang.failure = end_of(gang);
}

} // namespace

// Called before decide().
void Bridge::update_group(GangEntry &entry)
{
    Gang &gang = entry.gang;
    record_ends(gang);
    if (!gang.grouped)
        return;
    groups_.update_terms(gang);
    update_first_pod(entry);

    auto passed = [&](std::optional<Clock::time_point> &since, bool is_so,
                      std::chrono::seconds time) {
        if (!is_so) {
            since.reset();
            return false;
        }
        if (!since)
            since = context_.now;
        if (context_.now < *since + time)
            agenda_.wake_at(entry, *since + time);
        return context_.now >= *since + time;
    };
    bool lives = any_lives_by_job(gang);
    bool starting = gang.job && gang.job->state == JobState::configuring;
    gang.short_overdue = passed(entry.short_since,
                                starting && (lives || count_of_job(gang) != 0),
                                groups_.short_time(gang));
    bool over = gang.job && gang.job->state == JobState::running && !lives &&
                !any_waits(gang);
    gang.rejoin_over =
        passed(entry.over_since, over, context_.conf->rejoin_grace);
    bool by_done =
        (!gang.job || is_ended(gang.job->state)) && enough_by_done(gang);
    bool waited = passed(entry.refill_since, by_done, refill_pause);
    gang.may_refill = by_done && !waited;
}

// When the first Pod of a LeaderWorkerSet's group stays alone for a while, it
// gets a job with room for all: the others may be waiting for it to run.
void Bridge::update_first_pod(GangEntry &entry)
{
    Gang &gang = entry.gang;
    const GangKey *key = gang.pods.empty() ? nullptr : lead_of(gang).gang.get();
    bool alone = key && key->first_may_be_alone && gang.pods.size() == 1 &&
                 key->index == 0;
    if (!alone)
        entry.first_since.reset();
    else if (!entry.first_since)
        entry.first_since = context_.now;
    bool has_job = gang.job && !is_ended(gang.job->state);
    if (key && key->first_may_be_alone && has_job)
        gang.minimum = 1;
    if (!alone || has_job)
        return;
    auto due = *entry.first_since + first_alone;
    if (context_.now >= due)
        gang.minimum = 1;
    else
        agenda_.wake_at(entry, due);
}

// Returns whether Pods are still being added. Messages that contain their
// number wait until that is over; otherwise each Pod would be told about each
// of the others.
bool Bridge::is_growing(GangEntry &entry)
{
    if (!entry.gang.grouped)
        return false;
    if (entry.counted != entry.gang.pods.size()) {
        entry.counted = entry.gang.pods.size();
        entry.counted_since = context_.now;
    }
    auto due = entry.counted_since + growing_pause;
    if (context_.now < due)
        agenda_.wake_at(entry, due);
    return context_.now < due;
}

void Bridge::record_ends(Gang &gang)
{
    if (!gang.job || !is_allocated(gang.job->state))
        return;
    if (!gang.grouped)
        record_end(gang);
    else if (!gang.batch) // otherwise BatchPods::note_failure() does it
        record_failed_pod(gang);
}

void Bridge::record_bound(GangEntry &entry, const Bind &bind)
{
    Gang &gang = entry.gang;
    auto seats = seats_of(gang, bind);
    for (const Seat &seat : seats) {
        gang.maybe_bound.erase(seat.pod);
        if (!is_seen_bound(gang, seat.pod))
            gang.assumed_bound.insert_or_assign(seat.pod, seat);
    }
    gang.bind_overdue = false;
    entry.bind_failing_since.reset();
    entry.renewals = 0;
    if (!gang.grouped)
        gang.maybe_bound.clear();
    log_info("bound", {{"JobId", bind.job.id},
                       {"Gang", gang.key.str()},
                       {"NodeList", node_list(seats)}});
    voice_.say_bound(gang, bind);
}

// Each living Pod is adopted where it is, like a single Pod. A job that Slurm
// has requeued, or placed elsewhere, is cancelled only when all Pods have
// another job; otherwise its end would look like a user's request to end them.
void Bridge::split(const std::string &uid)
{
    GangEntry *entry = gangs_.find(uid);
    std::vector<std::string> pods;
    for (const PodPtr &pod : entry->gang.pods)
        if (pod->living() && binder_of(*pod))
            pods.push_back(pod->uid);
    log_warning("a gang's job is lost: each of its Pods gets a job of its own",
                {{"Gang", entry->gang.key.str()}, {"Pods", pods.size()}});
    for (const std::string &pod : pods)
        agenda_.wake(gangs_.split(pod));
    entry = gangs_.find(uid); // the table has new entries
    if (entry->gang.job && is_ended(entry->gang.job->state) &&
        left_over(*entry->gang.job).empty())
        gang_jobs_.set(*entry, std::nullopt);
    agenda_.wake(uid);
}

bool Bridge::is_needed(JobRef lost) const
{
    auto waits_for_job = [&](const auto &known) {
        const Gang &gang = known.second.gang;
        return !gang.grouped && !gang.job &&
               std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
                   return pod->living() && binder_of(*pod) == lost;
               });
    };
    return gangs_.living_of(lost) &&
           std::ranges::any_of(gangs_.all(), waits_for_job);
}

} // namespace bridge
