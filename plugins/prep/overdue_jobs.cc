// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/overdue_jobs.h"

#include "common/contract/names.h"

#include <utility>

namespace bridge {

namespace {

std::string name_of(JobRef job)
{
    return "JobId=" + std::to_string(job.id);
}

} // namespace

OverdueJobs::~OverdueJobs()
{
    thread_.request_stop();
}

void OverdueJobs::set(std::vector<Gate::Overdue> jobs)
{
    bool begin = !jobs.empty() && !thread_.joinable();
    {
        std::lock_guard lock(mutex_);
        jobs_ = std::move(jobs);
        wanted_.clear();
        for (const Gate::Overdue &job : jobs_)
            wanted_.insert(job.job);
        over_ |= jobs_.empty();
        again_ = true;
        std::erase_if(refused_,
                      [this](JobRef job) { return !wanted_.contains(job); });
    }
    changed_.notify_all();
    if (begin) // it inherits our signal mask
        thread_ =
            std::jthread([this](const std::stop_token &stop) { run(stop); });
}

std::vector<JobRef> OverdueJobs::pop_refused()
{
    std::lock_guard lock(mutex_);
    return std::exchange(refused_, {});
}

void OverdueJobs::run(const std::stop_token &stop)
{
    while (auto job = next(stop)) {
        try {
            end(*job);
        } catch (...) {
            std::this_thread::yield(); // no memory: set() names the job again
        }
    }
}

// Waits for the next job to end. Nothing: stop.
std::optional<Gate::Overdue> OverdueJobs::next(const std::stop_token &stop)
{
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !jobs_.empty(); }))
        return std::nullopt;
    if (std::exchange(over_, false))
        retries_.forget_all();
    if (std::exchange(again_, false))
        drained_.clear();
    Gate::Overdue job = std::move(jobs_.front());
    jobs_.erase(jobs_.begin());
    return job;
}

void OverdueJobs::end(const Gate::Overdue &job)
{
    if (!retries_.due(name_of(job.job), DrainRetries::Clock::now()))
        return; // its epilog is on its way
    bool all = true;
    for (const std::string &node : job.dirty) {
        if (!wanted(job.job))
            return;
        all &= drain(node);
    }
    if (all && wanted(job.job))
        requeue(job.job);
}

bool OverdueJobs::drain(const std::string &node)
{
    if (drained_.contains(node))
        return true;
    auto now = DrainRetries::Clock::now();
    if (!retries_.due(node, now))
        return false;
    auto done = slurmctld_.drain(node, names::gate_drain_reason);
    slurmctld_.log(LogLevel::warning,
                   done ? "drained " + node + ": " + names::gate_drain_reason
                        : done.error().message);
    if (!done) {
        retries_.failed(node, DrainRetries::Clock::now());
        return false;
    }
    retries_.forget(node);
    drained_.insert(node);
    return true;
}

void OverdueJobs::requeue(JobRef job)
{
    const std::string name = name_of(job);
    slurmctld_.log(LogLevel::warning,
                   name + " has waited for GateTimeout: requeueing it");
    auto done = slurmctld_.requeue(job);
    retries_.failed(name, DrainRetries::Clock::now());
    if (done)
        return;
    slurmctld_.log(LogLevel::warning, done.error().message);
    if (done.error().code == Code::busy)
        return;
    std::lock_guard lock(mutex_);
    if (wanted_.contains(job))
        refused_.push_back(job);
}

bool OverdueJobs::wanted(JobRef job)
{
    std::lock_guard lock(mutex_);
    return wanted_.contains(job);
}

} // namespace bridge
