// SPDX-License-Identifier: GPL-2.0-or-later
// When to retry to drain a node: first after the delay given to the
// constructor, then after twice as long each time, up to a minute. Pure.
#pragma once

#include "common/base/backoff.h"

#include <chrono>
#include <map>
#include <string>

namespace bridge {

class DrainRetries {
  public:
    using Clock = std::chrono::steady_clock;

    explicit DrainRetries(Clock::duration first) : first_(first) {}

    bool due(const std::string &node, Clock::time_point now) const
    {
        auto found = failed_.find(node);
        return found == failed_.end() || now >= found->second.next;
    }

    void failed(const std::string &node, Clock::time_point now)
    {
        auto [retry, fresh] = failed_.emplace(node, Retry{{}, first_});
        if (!fresh)
            retry->second.delay = doubled(retry->second.delay, longest);
        retry->second.next = now + retry->second.delay;
    }

    // The node is drained, or no job waits for it any more.
    void forget(const std::string &node) { failed_.erase(node); }
    void forget_all() { failed_.clear(); }

  private:
    static constexpr Clock::duration longest = std::chrono::minutes{1};
    struct Retry {
        Clock::time_point next;
        Clock::duration delay;
    };

    Clock::duration first_;
    std::map<std::string, Retry> failed_;
};

} // namespace bridge
