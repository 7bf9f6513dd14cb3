// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/table.h"

#include "common/base/backoff.h"

#include <algorithm>
#include <chrono>

namespace bridge {

namespace {

constexpr std::chrono::milliseconds first_retry{500};
constexpr std::chrono::seconds last_retry{30};
constexpr std::chrono::seconds held_pause{5};
constexpr std::chrono::minutes upgrade_pause{1};
constexpr int most_pauses = 8; // the longest pause is so many of the first

} // namespace

void BatchTable::want(JobRef job, Clock::time_point due)
{
    auto known = jobs_.try_emplace(job, Entry{.due = due}).first;
    Entry &entry = known->second;
    if (!entry.dropped || entry.wanted)
        return;
    entry.wanted = true;
    entry.due = due;
}

bool BatchTable::drop(JobRef job)
{
    auto known = jobs_.find(job);
    if (known == jobs_.end())
        return false;
    Entry &entry = known->second;
    if (!entry.in_flight) {
        jobs_.erase(known);
        return true;
    }
    bool was_wanted = !entry.dropped || entry.wanted;
    entry = {.due = entry.due, .in_flight = true, .dropped = true};
    return was_wanted;
}

std::vector<JobRef> BatchTable::pop_due(Clock::time_point now)
{
    std::vector<JobRef> due;
    for (auto &[job, entry] : jobs_)
        if (!entry.in_flight && entry.due <= now) {
            entry.in_flight = true;
            due.push_back(job);
        }
    return due;
}

BatchTable::Try BatchTable::finish(JobRef job)
{
    auto known = jobs_.find(job);
    if (known == jobs_.end())
        return Try::dropped;
    Entry &entry = known->second;
    entry.in_flight = false;
    if (!entry.dropped)
        return Try::counts;
    if (entry.wanted) {
        entry = {.due = entry.due};
        return Try::again;
    }
    jobs_.erase(known);
    return Try::dropped;
}

bool BatchTable::retry(JobRef job, Clock::time_point now,
                       Clock::duration patience, Clock::duration pause)
{
    auto known = jobs_.find(job);
    if (known == jobs_.end())
        return false;
    Entry &entry = known->second;
    entry.in_flight = false;
    entry.newer = false;
    auto delay =
        doubled<Clock::duration>(first_retry, last_retry, entry.failures);
    if (pause > Clock::duration::zero())
        delay = std::max(delay,
                         doubled(pause, most_pauses * pause, entry.pauses++));
    entry.due = now + delay;
    entry.failures++;
    if (!entry.failing)
        entry.failing = now;
    return now - *entry.failing < patience || !made_ || *made_ < *entry.failing;
}

void BatchTable::postpone(JobRef job, Clock::time_point now)
{
    auto known = jobs_.find(job);
    if (known != jobs_.end())
        known->second = {.due = now + held_pause};
}

void BatchTable::wait_for_upgrade(JobRef job, Clock::time_point now)
{
    auto known = jobs_.find(job);
    if (known != jobs_.end())
        known->second = {.due = now + upgrade_pause, .newer = true};
}

bool BatchTable::awaits_upgrade() const
{
    return std::ranges::any_of(
        jobs_, [](const auto &job) { return job.second.newer; });
}

bool BatchTable::lasts(JobRef job, Since since, Clock::time_point now,
                       Clock::duration patience) const
{
    auto known = jobs_.find(job);
    if (known == jobs_.end())
        return false;
    const auto &began = known->second.*since;
    return began && now - *began >= patience;
}

bool BatchTable::is_late(JobRef job, Clock::time_point now,
                         Clock::duration patience) const
{
    return lasts(job, &Entry::failing, now, patience);
}

void BatchTable::note_script(JobRef job, Clock::time_point now, bool missing)
{
    auto known = jobs_.find(job);
    if (known == jobs_.end())
        return;
    std::optional<Clock::time_point> &since = known->second.missing;
    since = missing ? since.value_or(now) : std::optional<Clock::time_point>();
}

bool BatchTable::is_missing(JobRef job, Clock::time_point now,
                            Clock::duration patience) const
{
    return lasts(job, &Entry::missing, now, patience);
}

bool BatchTable::is_stuck(Clock::time_point now, Clock::duration patience) const
{
    return std::ranges::any_of(jobs_, [&](const auto &job) {
        const Entry &entry = job.second;
        return entry.failing && now - *entry.failing >= patience;
    });
}

Clock::time_point BatchTable::next_due() const
{
    Clock::time_point next = Clock::time_point::max();
    for (const auto &[job, entry] : jobs_)
        if (!entry.in_flight)
            next = std::min(next, entry.due);
    return next;
}

} // namespace bridge
