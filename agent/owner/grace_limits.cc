// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/grace_limits.h"

#include "agent/gang/facts.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char times_problem[] = "slurm.conf";
constexpr std::chrono::seconds retry_pause{10};
constexpr std::chrono::seconds end_margin{30}; // beyond the grace period

} // namespace

Clock::time_point GraceLimits::due() const
{
    return loading_ ? Clock::time_point::max() : due_;
}

// They change rarely, and mostly with `scontrol reconfigure`, after which the
// plugin connects again.
void GraceLimits::request()
{
    loading_ = true;
    due_ = context_.now + context_.conf->resync_interval;
    errands_.load<GraceTimesLoaded>(
        [](Slurm &slurm) { return slurm.load_grace_times(); });
}

bool GraceLimits::take(GraceTimesLoaded &loaded)
{
    loading_ = false;
    if (!loaded.times) { // the former ones hold
        due_ = context_.now + retry_pause;
        context_.health.problem(times_problem, loaded.times.error().message);
        return false;
    }
    context_.health.solved(times_problem);
    if (std::exchange(known_, true) && times_ == *loaded.times)
        return false;
    times_ = std::move(*loaded.times);
    return true;
}

GraceFacts GraceLimits::facts(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    GraceFacts facts{.longest = most(gang), .allowed = allowed()};
    auto grace = time_to_end(gang, facts.longest);
    if (!grace || !is_ended(gang.job->state)) {
        entry.ending_since.reset();
        return facts;
    }
    if (!entry.ending_since)
        entry.ending_since = context_.now;
    auto due = *entry.ending_since + *grace + end_margin;
    facts.end_overdue = context_.now >= due;
    if (!facts.end_overdue)
        agenda_.wake_at(entry, due);
    return facts;
}

std::chrono::seconds GraceLimits::usual() const
{
    return context_.conf->max_grace_period.value_or(times_.kill_wait);
}

// A preempted job has the GraceTime of its partition, if there is one.
std::chrono::seconds GraceLimits::most(const Gang &gang) const
{
    auto grace = usual();
    if (gang.job && gang.job->state == JobState::preempted)
        if (auto own = times_.preempted.find(gang.job->partition);
            own != times_.preempted.end())
            grace = own->second;
    return std::clamp(grace, std::chrono::seconds(1),
                      std::chrono::seconds(max_grace_period));
}

// A kubelet that is stopping a container already when the job ends goes on with
// the grace period with which it began, so most() comes too late for it. A Pod
// that asks for nothing always gets a job.
std::chrono::seconds GraceLimits::allowed() const
{
    auto longest =
        std::max(usual(), std::chrono::seconds(default_grace_period));
    for (const auto &[partition, grace] : times_.preempted)
        longest = std::max(longest, grace);
    return std::min(longest, std::chrono::seconds(max_grace_period));
}

} // namespace bridge
