// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/job_lists.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char slurm_problem[] = "slurmctld";
constexpr std::chrono::seconds list_retry{2};
constexpr std::chrono::seconds states_interval{2}; // while something waits
constexpr std::chrono::seconds first_reason{5};
// While something lives: nobody reports that a job was suspended.
constexpr std::chrono::seconds living_interval{10};

} // namespace

void JobLists::list_soon()
{
    due_ = context_.now;
    again_ = loading_;
}

void JobLists::list_by(Clock::time_point when)
{
    Clock::time_point &due = loading_ ? next_ : due_;
    due = std::min(due, when);
}

Clock::time_point JobLists::list_due() const
{
    return loading_ ? Clock::time_point::max() : due_;
}

void JobLists::request_list()
{
    loading_ = true;
    asked_ = context_.now;
    absences_ = line_.absences();
    line_.list_requested();
    errands_.load<JobsLoaded>([](Slurm &slurm) { return slurm.load_all(); });
}

bool JobLists::take(const JobsLoaded &loaded)
{
    loading_ = false;
    if (!loaded.jobs) {
        due_ = context_.now + list_retry;
        context_.health.problem(slurm_problem, loaded.jobs.error().message);
        return false;
    }
    context_.health.solved(slurm_problem);
    due_ = std::exchange(again_, false)
               ? context_.now
               : context_.now + context_.conf->resync_interval;
    due_ = std::min(due_, std::exchange(next_, Clock::time_point::max()));
    return true;
}

Clock::time_point JobLists::look_due() const
{
    return loading_states_ ? Clock::time_point::max() : look_due_;
}

// Only the full records have reasons and expected starts. Autoscalers buy nodes
// by the first reason that a Pod shows, so it comes sooner.
void JobLists::look(const Wanted &wanted)
{
    look_due_ = context_.now + states_interval;
    auto interval = context_.conf->reason_interval;
    if (wanted.untold)
        interval = std::min(interval, first_reason);
    if (wanted.waits && context_.now - asked_ >= interval)
        due_ = context_.now;
    if (!wanted.waits &&
        !(wanted.lives && context_.now - states_asked_ >= living_interval))
        return;
    loading_states_ = true;
    states_asked_ = context_.now;
    errands_.load<StatesLoaded>(
        [](Slurm &slurm) { return slurm.load_states(); });
}

bool JobLists::take(const StatesLoaded &loaded)
{
    loading_states_ = false;
    if (!loaded.states) {
        context_.health.problem(slurm_problem, loaded.states.error().message);
        return false;
    }
    context_.health.solved(slurm_problem);
    return true;
}

} // namespace bridge
