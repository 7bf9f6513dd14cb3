// SPDX-License-Identifier: GPL-2.0-or-later
// How much of the evaluation of selectors each namespace may still have: so
// many steps in each period. Whoever has used them up waits for the next one.
// Belongs to one thread.
#pragma once

#include "agent/gres/cel_limits.h"
#include "common/base/mailbox.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace bridge {

class CelShares {
  public:
    // Whether less than this part of the share has been spent.
    bool any_left(const std::string &ns, Clock::time_point now,
                  std::size_t part = cel_limits::of_namespace) const
    {
        auto used = used_.find(ns);
        return used == used_.end() || used->second.steps < part ||
               now - used->second.since >= cel_limits::period;
    }

    // When the namespace has its whole share again.
    Clock::time_point next(const std::string &ns) const
    {
        auto used = used_.find(ns);
        return used == used_.end() ? Clock::time_point::min()
                                   : used->second.since + cel_limits::period;
    }

    void spend(const std::string &ns, std::size_t steps, Clock::time_point now)
    {
        std::erase_if(used_, [now](const auto &one) {
            return now - one.second.since >= cel_limits::period;
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
