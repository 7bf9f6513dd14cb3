// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/gate.h"

#include <algorithm>
#include <sys/wait.h>
#include <utility>

namespace bridge {

namespace {

// slurmctld takes any other status for success: prep_slurmctld.c.
int failing_status(int rc)
{
    constexpr int exit_1 = 1 << 8;
    return WIFEXITED(rc) && WEXITSTATUS(rc) != 0 ? rc : exit_1;
}

} // namespace

bool Gate::prolog(const JobFacts &facts)
{
    // A job that ends at once has its epilog before its prolog: slurmctld
    // calls the prolog from a thread that waits for the locks.
    if (epilogs_.contains(facts.job) ||
        std::ranges::contains(ended_, facts.job))
        return false;
    if (auto held = prologs_.find(facts.job); held != prologs_.end()) {
        held->second.calls++;
        return true;
    }
    bool any_dirty = !dirty_by_epilog_.empty() || !dirty_by_agent_.empty();
    if (!facts.ours && !any_dirty)
        return false; // most jobs: their hostlist is not even expanded
    Held held{.hostlist = facts.hostlist,
              .cpus = facts.cpus,
              .nodes = expand_(facts.hostlist),
              .ours = facts.ours};
    if (may_open(held))
        return false;
    prologs_.emplace(facts.job, std::move(held));
    return true;
}

bool Gate::epilog(const JobFacts &facts)
{
    remember_end(facts.job);
    if (auto held = prologs_.find(facts.job); held != prologs_.end())
        release(prologs_, held, Hook::prolog, 0);
    if (!facts.ours)
        return false;
    if (auto held = epilogs_.find(facts.job); held != epilogs_.end()) {
        held->second.calls++;
        return true;
    }
    Held held{.hostlist = facts.hostlist,
              .nodes = expand_(facts.hostlist),
              .ours = true};
    for (const std::string &node : held.nodes)
        dirty_by_epilog_[node]++;
    epilogs_.emplace(facts.job, std::move(held));
    return true;
}

void Gate::start(JobRef job)
{
    auto held = prologs_.find(job);
    if (held == prologs_.end())
        return;
    held->second.started = true;
    if (may_open(held->second))
        release(prologs_, held, Hook::prolog, 0);
}

void Gate::fail(JobRef job, int rc)
{
    if (auto held = prologs_.find(job); held != prologs_.end())
        release(prologs_, held, Hook::prolog, failing_status(rc));
}

void Gate::clean(JobRef job)
{
    auto held = epilogs_.find(job);
    if (held == epilogs_.end())
        return;
    for (const std::string &node : held->second.nodes)
        if (--dirty_by_epilog_[node] == 0)
            dirty_by_epilog_.erase(node);
    release(epilogs_, held, Hook::epilog, 0);
    open_prologs();
}

void Gate::synced(const std::string &dirty_hostlist)
{
    std::vector<std::string> nodes = expand_(dirty_hostlist);
    dirty_by_agent_ = {nodes.begin(), nodes.end()};
    open_prologs();
}

std::vector<Release> Gate::take_due()
{
    return std::exchange(due_, {});
}

std::vector<Hold> Gate::held() const
{
    std::vector<Hold> all;
    all.reserve(epilogs_.size() + prologs_.size());
    for (const auto &[job, held] : epilogs_)
        all.push_back({Hook::epilog, job});
    for (const auto &[job, held] : prologs_)
        all.push_back({Hook::prolog, job});
    return all;
}

std::optional<HookMessage> Gate::message(const Hold &hold) const
{
    bool prolog = hold.hook == Hook::prolog;
    const HeldJobs &jobs = prolog ? prologs_ : epilogs_;
    auto held = jobs.find(hold.job);
    if (held == jobs.end())
        return std::nullopt;
    HookMessage message;
    message.job = hold.job;
    message.nodes = held->second.hostlist;
    message.type = prolog ? HookMessage::Type::allocated
                          : HookMessage::Type::ended;
    if (prolog) {
        message.cpus = held->second.cpus;
        message.ours = held->second.ours;
        message.dirty = dirty_among(held->second.nodes);
    }
    return message;
}

bool Gate::dirty(const std::string &node) const
{
    return dirty_by_epilog_.contains(node) || dirty_by_agent_.contains(node);
}

std::string Gate::dirty_among(const std::vector<std::string> &nodes) const
{
    std::string hostlist;
    for (const std::string &node : nodes)
        if (dirty(node))
            hostlist += (hostlist.empty() ? "" : ",") + node;
    return hostlist;
}

bool Gate::may_open(const Held &held) const
{
    return (held.started || !held.ours) &&
           std::ranges::none_of(held.nodes, [this](const std::string &node) {
               return dirty(node);
           });
}

void Gate::open_prologs()
{
    for (auto job = prologs_.begin(); job != prologs_.end();)
        job = may_open(job->second) ? release(prologs_, job, Hook::prolog, 0)
                                    : std::next(job);
}

Gate::HeldJobs::iterator Gate::release(HeldJobs &jobs, HeldJobs::iterator job,
                                       Hook hook, int rc)
{
    due_.insert(due_.end(), static_cast<std::size_t>(job->second.calls),
                Release{hook, job->first.id, rc});
    return jobs.erase(job);
}

void Gate::remember_end(JobRef job)
{
    constexpr std::size_t remembered = 1024; // ends between a job's own two
    if (job.sluid == Sluid{}) // without one, its next run would look the same
        return;
    if (ended_.size() == remembered)
        ended_.pop_front();
    ended_.push_back(job);
}

} // namespace bridge
