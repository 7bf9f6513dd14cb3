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
    case HookMessage::Type::unprotected:
        return gate_.unprotected(message.nodes, message.more);
    default:
        return;
    }
}

void HeldHooks::remember(GateMemory memory)
{
    std::lock_guard lock(mutex_);
    gate_.remember(std::move(memory));
}

void HeldHooks::remember_nothing()
{
    std::lock_guard lock(mutex_);
    gate_.remember_nothing();
}

bool HeldHooks::untouched()
{
    std::lock_guard lock(mutex_);
    return !touched_;
}

std::optional<GateMemory> HeldHooks::memory()
{
    std::lock_guard lock(mutex_);
    return gate_.memory();
}

void HeldHooks::drop_all()
{
    std::lock_guard lock(mutex_);
    gate_.drop_all();
    queue_.clear();
    dropped_ = 0;
    touched_ = false;
}

void HeldHooks::begin_doubt()
{
    std::lock_guard lock(mutex_);
    gate_.begin_doubt(Gate::Clock::now());
}

void HeldHooks::end_doubt(bool new_term)
{
    std::lock_guard lock(mutex_);
    gate_.end_doubt(new_term);
}

void HeldHooks::give_up_unknown(Gate::Clock::duration timeout)
{
    std::lock_guard lock(mutex_);
    gate_.give_up_unknown(Gate::Clock::now(), timeout);
}

void HeldHooks::give_up_protection()
{
    std::lock_guard lock(mutex_);
    gate_.give_up_protection(Gate::Clock::now());
}

std::optional<Gate::Clock::time_point> HeldHooks::next_unprotected()
{
    std::lock_guard lock(mutex_);
    return gate_.next_unprotected();
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

std::optional<Release> HeldHooks::pop_due()
{
    std::lock_guard lock(mutex_);
    return gate_.pop_one_due();
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
