// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/selection_pace.h"

#include <algorithm>

namespace bridge {

SelectionPace::Time SelectionPace::next(const std::string &ns, Time now)
{
    sweep(now);
    Turn &turn = turns_[ns];
    if (turn.due >= now) // this one is in time for that
        return turn.due;
    turn.unused = std::max(turn.unused, now) + interval;
    turn.due = std::max(now, turn.unused - at_once * interval);
    return turn.due;
}

void SelectionPace::sweep(Time now)
{
    if (!sweep_mark_.is_due(turns_.size()))
        return;
    std::erase_if(turns_, [&](const auto &known) {
        return known.second.due < now && known.second.unused <= now;
    });
    sweep_mark_.swept(turns_.size());
}

} // namespace bridge
