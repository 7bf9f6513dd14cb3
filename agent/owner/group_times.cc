// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/group_times.h"

#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"

namespace bridge {

namespace {

constexpr std::chrono::seconds first_alone{5};
constexpr std::chrono::seconds growing_pause{1};
// The controller of Jobs gathers the ends of Pods for a second before it makes
// the next ones, so that those of one round may come in two parts.
constexpr std::chrono::seconds refill_pause{3};

} // namespace

TimeFacts GroupTimes::facts(GangEntry &entry)
{
    Gang &gang = entry.gang;
    if (!gang.grouped)
        return {};
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
    TimeFacts facts;
    facts.short_overdue = passed(entry.short_since,
                                 starting && (lives || count_of_job(gang) != 0),
                                 groups_.short_time(gang));
    bool over = gang.job && gang.job->state == JobState::running && !lives &&
                !any_waits(gang);
    facts.rejoin_over =
        passed(entry.over_since, over, context_.conf->rejoin_grace);
    bool by_done =
        (!gang.job || is_ended(gang.job->state)) && enough_by_done(gang);
    bool waited = passed(entry.refill_since, by_done, refill_pause);
    facts.may_refill = by_done && !waited;
    return facts;
}

// When the first Pod of a LeaderWorkerSet's group stays alone for a while, it
// gets a job with room for all: the others may be waiting for it to run.
void GroupTimes::update_first_pod(GangEntry &entry)
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

bool GroupTimes::is_growing(GangEntry &entry)
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

} // namespace bridge
