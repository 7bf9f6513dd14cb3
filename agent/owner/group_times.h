// SPDX-License-Identifier: GPL-2.0-or-later
// What time makes of a grouped gang: Pods are missing for too long, or come no
// more. It alone writes what GangEntry has about that. Owner thread only.
#pragma once

#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/groups.h"

namespace bridge {

class GroupTimes {
  public:
    GroupTimes(const Context &context, Agenda &agenda, const Groups &groups)
        : context_(context), agenda_(agenda), groups_(groups)
    {
    }

    // Sets how many Pods a grouped gang must have, and returns what decide()
    // must know of the time. The gang is woken when that changes.
    TimeFacts facts(GangEntry &entry);

    // Whether Pods are still being added. Messages that contain their number
    // wait until that is over; otherwise each Pod would be told about each of
    // the others.
    bool is_growing(GangEntry &entry);

  private:
    void update_first_pod(GangEntry &entry);

    const Context &context_;
    Agenda &agenda_;
    const Groups &groups_;
};

} // namespace bridge
