// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/gate.h"

#include "common/base/wait_status.h"

#include <algorithm>
#include <sys/wait.h>
#include <utility>

namespace bridge {

namespace {

// slurmctld treats any other status as success: prep_slurmctld.c.
int failing_status(int rc)
{
    return WIFEXITED(rc) && WEXITSTATUS(rc) != 0 ? rc : exit_1;
}

} // namespace

void Gate::remember(GateMemory memory)
{
    bridge_ = std::move(memory.bridge);
    dirty_by_agent_ = std::move(memory.dirty);
    unknown_ = !bridge_.empty();
    no_bridge_ = false;
}

void Gate::remember_nothing()
{
    unknown_ = no_bridge_ = true;
}

std::optional<GateMemory> Gate::memory() const
{
    if (no_bridge_)
        return std::nullopt;
    if (dirty_by_epilog_.empty())
        return GateMemory{bridge_, dirty_by_agent_};
    NodeSet::Names dirty(dirty_by_agent_.begin(), dirty_by_agent_.end());
    for (const auto &[node, epilogs] : dirty_by_epilog_)
        dirty.insert(node);
    return GateMemory{bridge_, std::move(dirty)};
}

void Gate::drop_all()
{
    *this = Gate(std::move(expand_));
}

void Gate::begin_doubt(Clock::time_point now)
{
    for (HeldJobs *jobs : {&epilogs_, &prologs_})
        for (auto &[job, held] : *jobs)
            held.doubted = true;
    doubted_due_ = due_.size();
    ended_.clear(); // a takeover may find the job as it was before its end
    unknown_ |= !bridge_.empty();
    first_hook_ = now;
    forget_parts();
}

void Gate::end_doubt(bool new_term)
{
    if (new_term) {
        auto doubted = [](const auto &job) { return job.second.doubted; };
        for (const auto &[job, held] : epilogs_)
            if (held.doubted)
                forget_epilog(held);
        std::erase_if(epilogs_, doubted);
        std::erase_if(prologs_, doubted);
        due_.erase(due_.begin(),
                   due_.begin() + static_cast<std::ptrdiff_t>(doubted_due_));
    }
    for (HeldJobs *jobs : {&epilogs_, &prologs_})
        for (auto &[job, held] : *jobs)
            held.doubted = false;
    doubted_due_ = 0;
}

// The hook of a job that is held already was called again.
void Gate::repeat(Held &held, Clock::time_point now)
{
    if (!std::exchange(held.doubted, false)) {
        held.calls++;
        return;
    }
    held.calls = 1; // slurmctld has taken over, and knows of one call
    held.since = now;
    held.told = false;
    held.waited = false;
}

void Gate::forget_epilog(const Held &held)
{
    for (const std::string &node : held.nodes)
        if (--dirty_by_epilog_[node] == 0)
            dirty_by_epilog_.erase(node);
}

bool Gate::prolog(const JobFacts &facts, Clock::time_point now)
{
    if (!first_hook_)
        first_hook_ = now;
    // The epilog of a job that ends at once comes before its prolog: slurmctld
    // calls the prolog in a thread that waits for the locks.
    auto epilog = epilogs_.find(facts.job);
    if ((epilog != epilogs_.end() && !epilog->second.doubted) ||
        std::ranges::contains(ended_, facts.job))
        return false;
    if (auto held = prologs_.find(facts.job); held != prologs_.end()) {
        repeat(held->second, now);
        return true;
    }
    bool all_clean = dirty_by_epilog_.empty() && dirty_by_agent_.empty() &&
                     !unknown_ && unprotected_.empty();
    if (!facts.ours && all_clean)
        return false; // most jobs: no need to expand the hostlist
    Held held{.hostlist = facts.hostlist,
              .cpus = facts.cpus,
              .nodes = expand_(facts.hostlist),
              .ours = facts.ours,
              .batch = facts.batch,
              .since = now};
    if (opens_by_itself(held))
        return false;
    prologs_.emplace(facts.job, std::move(held));
    return true;
}

bool Gate::epilog(const JobFacts &facts, Clock::time_point now)
{
    if (!first_hook_)
        first_hook_ = now;
    remember_end(facts.job);
    for (Release &release : due_)
        if (release.hook == Hook::prolog && release.job == facts.job.id)
            release.rc = 0;
    if (auto held = prologs_.find(facts.job); held != prologs_.end())
        release(prologs_, held, Hook::prolog, 0);
    if (!facts.ours)
        return false;
    if (auto held = epilogs_.find(facts.job); held != epilogs_.end()) {
        repeat(held->second, now);
        return true;
    }
    Held held{.hostlist = facts.hostlist,
              .nodes = expand_(facts.hostlist),
              .ours = true,
              .since = now};
    for (const std::string &node : held.nodes)
        dirty_by_epilog_[node]++;
    epilogs_.emplace(facts.job, std::move(held));
    return true;
}

void Gate::start(JobRef job)
{
    if (auto held = prologs_.find(job); held != prologs_.end())
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
    forget_epilog(held->second);
    release(epilogs_, held, Hook::epilog, 0);
    open_prologs();
}

void Gate::bridge(const std::string &hostlist, bool more)
{
    auto nodes = whole(bridge_parts_, hostlist, more);
    if (!nodes)
        return;
    bridge_ = std::move(*nodes);
    no_bridge_ = false;
    open_prologs();
}

void Gate::synced(const std::string &dirty_hostlist, bool more)
{
    auto nodes = whole(dirty_parts_, dirty_hostlist, more);
    if (!nodes)
        return;
    dirty_by_agent_ = std::move(*nodes);
    unknown_ = false;
    open_prologs();
}

void Gate::unprotected(const std::string &hostlist, bool more)
{
    auto nodes = whole(unprotected_parts_, hostlist, more);
    if (!nodes)
        return;
    unprotected_ = std::move(*nodes);
    open_prologs();
}

void Gate::forget_parts()
{
    bridge_parts_.clear();
    dirty_parts_.clear();
    unprotected_parts_.clear();
}

std::optional<std::set<std::string>> Gate::whole(std::set<std::string> &parts,
                                                 const std::string &hostlist,
                                                 bool more)
{
    for (std::string &node : expand_(hostlist))
        parts.insert(std::move(node));
    if (more)
        return std::nullopt;
    return std::exchange(parts, {});
}

void Gate::give_up_unknown(Clock::time_point now, Clock::duration timeout)
{
    if (!unknown_ || !first_hook_ || now - *first_hook_ < timeout)
        return;
    unknown_ = false;
    open_prologs();
}

void Gate::give_up_protection(Clock::time_point now)
{
    bool any = false;
    for (auto &[job, held] : prologs_)
        if (!held.waited && now - held.since >= longest_unprotected)
            any = held.waited = true;
    if (any)
        open_prologs();
}

std::optional<Gate::Clock::time_point> Gate::next_unprotected() const
{
    std::optional<Clock::time_point> next;
    for (const auto &[job, held] : prologs_)
        if (is_unprotected(held))
            next = std::min(next.value_or(Clock::time_point::max()),
                            held.since + longest_unprotected);
    return next;
}

std::vector<Gate::Overdue> Gate::overdue(Clock::time_point now,
                                         Clock::duration timeout) const
{
    std::vector<Overdue> all;
    for (const auto &[job, held] : prologs_) {
        if (held.ours || now - held.since < timeout)
            continue;
        Overdue one{job, {}};
        for (const std::string &node : held.nodes)
            if (dirty(node))
                one.dirty.push_back(node);
        if (!one.dirty.empty())
            all.push_back(std::move(one));
    }
    return all;
}

std::vector<Release> Gate::pop_due()
{
    std::vector<Release> all(due_.begin(), due_.end());
    due_.clear();
    return all;
}

std::optional<Release> Gate::pop_one_due()
{
    if (due_.empty())
        return std::nullopt;
    Release oldest = due_.front();
    due_.pop_front();
    return oldest;
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

std::vector<Hold> Gate::untold() const
{
    std::vector<Hold> all = held();
    std::erase_if(all, [this](const Hold &hold) {
        const HeldJobs &jobs = hold.hook == Hook::prolog ? prologs_ : epilogs_;
        return jobs.at(hold.job).told;
    });
    return all;
}

void Gate::forget_told()
{
    for (HeldJobs *jobs : {&epilogs_, &prologs_})
        for (auto &[job, held] : *jobs)
            held.told = false;
}

std::optional<HookMessage> Gate::make_message(const Hold &hold)
{
    bool prolog = hold.hook == Hook::prolog;
    HeldJobs &jobs = prolog ? prologs_ : epilogs_;
    auto held = jobs.find(hold.job);
    if (held == jobs.end())
        return std::nullopt;
    held->second.told = true;
    HookMessage message;
    message.job = hold.job;
    message.nodes = cut_hostlist(held->second.hostlist, max_packet_list);
    message.type =
        prolog ? HookMessage::Type::allocated : HookMessage::Type::ended;
    if (prolog) {
        message.cpus = held->second.cpus;
        message.ours = held->second.ours;
        message.batch = held->second.batch;
        message.unprotected = is_unprotected(held->second);
        for (const std::string &node : held->second.nodes) {
            if (clean_now(node))
                continue;
            if (message.dirty.size() + node.size() >= max_packet_list)
                break;
            message.dirty += (message.dirty.empty() ? "" : ",") + node;
        }
    }
    return message;
}

bool Gate::dirty(const std::string &node) const
{
    return dirty_by_epilog_.contains(node) || dirty_by_agent_.contains(node);
}

bool Gate::clean_now(const std::string &node) const
{
    return !dirty(node) &&
           !(unknown_ && (no_bridge_ || bridge_.contains(node)));
}

bool Gate::is_unprotected(const Held &held) const
{
    return !held.ours && !held.waited &&
           std::ranges::any_of(held.nodes, [this](const std::string &node) {
               return unprotected_.contains(node);
           });
}

bool Gate::opens_by_itself(const Held &held) const
{
    return !held.ours && !is_unprotected(held) &&
           std::ranges::all_of(held.nodes, [this](const std::string &node) {
               return clean_now(node);
           });
}

void Gate::open_prologs()
{
    for (auto job = prologs_.begin(); job != prologs_.end();)
        job = opens_by_itself(job->second)
                  ? release(prologs_, job, Hook::prolog, 0)
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
    // Larger than the number of jobs that end between the epilog and the prolog
    // of one job.
    constexpr std::size_t remembered = 1024;
    if (job.sluid == Sluid{}) // without a SLUID, its next run would look the
                              // same
        return;
    if (ended_.size() == remembered)
        ended_.pop_front();
    ended_.push_back(job);
}

} // namespace bridge
