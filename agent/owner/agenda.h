// SPDX-License-Identifier: GPL-2.0-or-later
// Which gangs are decided in the next turn of the owner thread, and which ones
// later. Knows uids only: a gang may be gone when its time comes. Owner thread
// only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/context.h"

#include <map>
#include <set>
#include <string>

namespace bridge {

class Agenda {
  public:
    explicit Agenda(const Context &context) : context_(context) {}

    void wake(const std::string &uid) { woken_.insert(uid); }
    void wake(std::set<std::string> uids) { woken_.merge(uids); }

    // Wakes the gang then, unless it is woken earlier: it says anew then how
    // long it waits.
    void wake_at(GangEntry &entry, Clock::time_point when);

    // Wakes those whose time has come.
    void ring();

    // Returns who is woken. Those that are woken from now on are of the next
    // turn.
    std::set<std::string> take();

    // Whether somebody is woken, and when somebody is next.
    bool any_woken() const { return !woken_.empty(); }
    Clock::time_point next() const;

  private:
    const Context &context_;
    std::set<std::string> woken_;                          // gang uids
    std::multimap<Clock::time_point, std::string> timers_; // gang uids
};

} // namespace bridge
