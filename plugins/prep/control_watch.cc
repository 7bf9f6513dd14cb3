// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/control_watch.h"

namespace bridge {

ControlWatch::Finding ControlWatch::find(const Signs &signs, Seconds now)
{
    Finding found{control(signs, now)};
    if (found.control != Control::ours)
        return found;
    Seconds term = signs.control_time.value_or(0);
    if (term == 0)
        return found;
    found.new_term = us_ != 0 && term_ && *term_ != term;
    term_ = term;
    return found;
}

Control ControlWatch::control(const Signs &signs, Seconds now)
{
    if (hosts_ < 2)
        return Control::ours; // it writes no heartbeat
    if (!signs.heartbeat)
        return Control::unknown;
    if (signs.heartbeat->index != us_)
        return Control::others;
    if (timeout_ != 0 && now - signs.heartbeat->time > timeout_)
        return Control::unknown;
    // The first host's slurmctld ends when it gives control up.
    bool standby = us_ != 0 && signs.control_time == 0;
    if (standby && !beats_on(*signs.heartbeat, now))
        return Control::unknown;
    if (!standby)
        blank_.reset();
    return Control::ours;
}

// slurmctld stops its heartbeat before it goes on standby.
bool ControlWatch::beats_on(const Heartbeat &heartbeat, Seconds now)
{
    if (!blank_)
        blank_ = now;
    return heartbeat.time > *blank_;
}

} // namespace bridge
