// SPDX-License-Identifier: GPL-2.0-or-later
// How often Slurm's nodes get features for new node selections. Each time is a
// write under slurmctld's node lock, so a namespace has a few of them at once,
// and then one each some seconds; what it needs meanwhile is in the next. Pure
// bookkeeping; belongs to the owner thread.
#pragma once

#include "common/base/sweep_mark.h"

#include <chrono>
#include <map>
#include <string>

namespace bridge {

class SelectionPace {
  public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr unsigned at_once = 6;
    static constexpr std::chrono::seconds interval{3};

    // The namespace has a new selection. Returns when the nodes should get its
    // feature: now, or later if it had many of late.
    Time next(const std::string &ns, Time now);

  private:
    struct Turn {
        Time due{};    // the last answer
        Time unused{}; // when the namespace has all of at_once again
    };
    void sweep(Time now);

    std::map<std::string, Turn> turns_; // by namespace
    SweepMark sweep_mark_{64};
};

} // namespace bridge
