// SPDX-License-Identifier: GPL-2.0-or-later
// The Lease that says which operator acts. It is taken when nobody holds it or
// its holder has not renewed it for as long as it lasts, by our own clock. A
// process that has lost it never acts again. step() belongs to one thread; the
// questions may be asked from any.
#pragma once

#include "common/kube/lease.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace bridge::slinky {

using SteadyTime = std::chrono::steady_clock::time_point;

// How long after its last renewal a holder still writes: less than the Lease
// lasts, because of requests under way and of clocks of different speed.
inline constexpr std::chrono::seconds trust{12};
inline constexpr std::chrono::seconds step_interval{2};

class Leader {
  public:
    // us: a name that no other process has.
    Leader(LeaseStore &store, std::string us);

    // Looks at the Lease, and takes or renews it. Blocks for two requests.
    void step(SteadyTime now, const std::string &wall_time);

    bool may_write(SteadyTime now) const { return now < until_.load(); }
    bool is_lost() const { return lost_; }
    // Why this process does not act: "" if it does.
    std::string waits_for() const;

    // So that another one need not wait. Nothing may be written any more.
    void give_back(const std::string &wall_time);

  private:
    void write(LeaseRecord record, SteadyTime now);
    void say(std::string words);

    LeaseStore &store_;
    const std::string us_;
    LeaseRecord seen_;
    SteadyTime changed_{};
    bool leading_ = false;
    std::atomic<bool> lost_ = false;
    std::atomic<SteadyTime> until_{};
    mutable std::mutex mutex_;
    std::string words_ = "the Lease was not read yet";
};

} // namespace bridge::slinky
