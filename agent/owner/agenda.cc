// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/agenda.h"

#include <utility>

namespace bridge {

void Agenda::wake_at(GangEntry &entry, Clock::time_point when)
{
    // A gang that is woken earlier sets its own next deadline then.
    if (entry.armed_until > context_.now && entry.armed_until <= when)
        return;
    entry.armed_until = when;
    timers_.emplace(when, entry.gang.uid);
}

void Agenda::ring()
{
    while (!timers_.empty() && timers_.begin()->first <= context_.now) {
        wake(timers_.begin()->second);
        timers_.erase(timers_.begin());
    }
}

std::set<std::string> Agenda::take()
{
    return std::exchange(woken_, {});
}

Clock::time_point Agenda::next() const
{
    return timers_.empty() ? Clock::time_point::max() : timers_.begin()->first;
}

} // namespace bridge
