// SPDX-License-Identifier: GPL-2.0-or-later
// How much of the evaluation of selectors each namespace may still have: so
// many steps in each period. Whoever has used them up waits for the next one.
// Belongs to one thread.
#pragma once

#include "common/base/mailbox.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace bridge {

class CelShares {
  public:
    // Some two seconds of a thread. A simple selector for 40,000 devices costs
    // a fiftieth.
    static constexpr std::size_t share = 50'000'000;
    static constexpr std::chrono::seconds period{10};

    bool any_left(const std::string &ns, Clock::time_point now) const
    {
        auto used = used_.find(ns);
        return used == used_.end() || used->second.steps < share ||
               now - used->second.since >= period;
    }

    void spend(const std::string &ns, std::size_t steps, Clock::time_point now)
    {
        std::erase_if(used_, [now](const auto &one) {
            return now - one.second.since >= period;
        });
        auto [used, is_new] = used_.try_emplace(ns);
        if (is_new)
            used->second.since = now;
        used->second.steps += steps;
    }

  private:
    struct Used {
        Clock::time_point since;
        std::size_t steps = 0;
    };

    std::map<std::string, Used> used_; // by namespace
};

} // namespace bridge
