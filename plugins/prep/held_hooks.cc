// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/held_hooks.h"

#include <utility>

namespace bridge {

HeldHooks::Outcome HeldHooks::prolog(const JobFacts &facts)
{
    std::lock_guard lock(mutex_);
    bool held = gate_.prolog(facts);
    if (held)
        enqueue({Hook::prolog, facts.job});
    return {.held = held, .news = held};
}

HeldHooks::Outcome HeldHooks::epilog(const JobFacts &facts)
{
    std::lock_guard lock(mutex_);
    bool held = gate_.epilog(facts);
    if (held)
        enqueue({Hook::epilog, facts.job});
    return {.held = held, .news = held || gate_.has_due()};
}

void HeldHooks::obey(const HookMessage &message)
{
    std::lock_guard lock(mutex_);
    switch (message.type) {
    case HookMessage::Type::start: return gate_.start(message.job);
    case HookMessage::Type::fail: return gate_.fail(message.job, message.rc);
    case HookMessage::Type::clean: return gate_.clean(message.job);
    case HookMessage::Type::synced: return gate_.synced(message.dirty);
    default: return;
    }
}

std::vector<Release> HeldHooks::take_due()
{
    std::lock_guard lock(mutex_);
    return gate_.take_due();
}

void HeldHooks::refill()
{
    std::lock_guard lock(mutex_);
    queue_.clear();
    dropped_ = 0;
    for (const Hold &hold : gate_.held())
        enqueue(hold);
}

std::optional<HookMessage> HeldHooks::next_message()
{
    std::lock_guard lock(mutex_);
    while (!queue_.empty()) {
        Hold hold = queue_.front();
        queue_.pop_front();
        if (auto message = gate_.message(hold))
            return message;
    }
    return std::nullopt;
}

std::size_t HeldHooks::take_dropped()
{
    std::lock_guard lock(mutex_);
    return queue_.empty() ? std::exchange(dropped_, 0) : 0;
}

void HeldHooks::enqueue(const Hold &hold)
{
    if (queue_.size() < queue_limit_)
        queue_.push_back(hold);
    else
        dropped_++;
}

} // namespace bridge
