// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/held_hooks.h"

#include <utility>

namespace bridge {

HeldHooks::Outcome HeldHooks::prolog(const JobFacts &facts)
{
    std::lock_guard lock(mutex_);
    touched_ = true;
    bool held = gate_.prolog(facts, Gate::Clock::now());
    if (held)
        enqueue({Hook::prolog, facts.job});
    return {.held = held, .news = held};
}

HeldHooks::Outcome HeldHooks::epilog(const JobFacts &facts)
{
    std::lock_guard lock(mutex_);
    touched_ = true;
    bool held = gate_.epilog(facts, Gate::Clock::now());
    if (held)
        enqueue({Hook::epilog, facts.job});
    return {.held = held, .news = held || gate_.has_due()};
}

void HeldHooks::obey(const HookMessage &message)
{
    std::lock_guard lock(mutex_);
    switch (message.type) {
    case HookMessage::Type::start:
        return gate_.start(message.job);
    case HookMessage::Type::fail:
        return gate_.fail(message.job, message.rc);
    case HookMessage::Type::clean:
        return gate_.clean(message.job);
    case HookMessage::Type::bridge:
        touched_ = true;
        return gate_.bridge(message.nodes, message.more);
    case HookMessage::Type::synced:
        touched_ = true;
        return gate_.synced(message.dirty, message.more);
    default:
        return;
    }
}

void HeldHooks::remember(GateMemory memory)
{
    std::lock_guard lock(mutex_);
    if (!touched_)
        gate_.remember(std::move(memory));
}

bool HeldHooks::untouched()
{
    std::lock_guard lock(mutex_);
    return !touched_;
}

GateMemory HeldHooks::memory()
{
    std::lock_guard lock(mutex_);
    return gate_.memory();
}

void HeldHooks::give_up_unknown(Gate::Clock::duration timeout)
{
    std::lock_guard lock(mutex_);
    gate_.give_up_unknown(Gate::Clock::now(), timeout);
}

std::vector<Gate::Overdue> HeldHooks::overdue(Gate::Clock::duration timeout)
{
    std::lock_guard lock(mutex_);
    return gate_.overdue(Gate::Clock::now(), timeout);
}

void HeldHooks::fail(JobRef job, int rc)
{
    std::lock_guard lock(mutex_);
    gate_.fail(job, rc);
}

std::vector<Release> HeldHooks::pop_due()
{
    std::lock_guard lock(mutex_);
    return gate_.pop_due();
}

void HeldHooks::refill()
{
    std::lock_guard lock(mutex_);
    gate_.forget_parts();
    gate_.forget_told();
    dropped_ = 0;
    queue_untold();
}

std::optional<HookMessage> HeldHooks::next_message()
{
    std::lock_guard lock(mutex_);
    while (!queue_.empty()) {
        Hold hold = queue_.front();
        queue_.pop_front();
        if (auto message = gate_.make_message(hold))
            return message;
    }
    return std::nullopt;
}

std::size_t HeldHooks::pop_dropped()
{
    std::lock_guard lock(mutex_);
    if (!queue_.empty())
        return 0;
    std::size_t dropped = std::exchange(dropped_, 0);
    if (dropped != 0)
        queue_untold();
    return dropped;
}

void HeldHooks::queue_untold()
{
    queue_.clear();
    for (const Hold &hold : gate_.untold())
        enqueue(hold);
}

void HeldHooks::enqueue(const Hold &hold)
{
    if (queue_.size() < queue_limit_)
        queue_.push_back(hold);
    else
        dropped_++;
}

} // namespace bridge
