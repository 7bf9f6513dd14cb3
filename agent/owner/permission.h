// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the action that was decided for a gang may be carried out now. It has
// no state of its own, but a permission takes what it is for: the gang's place
// in the queue (QueuePlaces), and the room on its Nodes (Room). So ask once,
// right before Dispatch::begin(). Owner thread only.
#pragma once

#include "agent/gang/action.h"
#include "agent/owner/agenda.h"
#include "agent/owner/attempts.h"
#include "agent/owner/context.h"
#include "agent/owner/pins.h"
#include "agent/owner/placement.h"
#include "agent/owner/queue_places.h"
#include "agent/owner/room.h"
#include "agent/owner/shared_claims.h"
#include "agent/owner/sync_times.h"
#include "agent/owner/voice.h"

#include <map>
#include <string>

namespace bridge {

class Permission {
  public:
    struct Parts {
        const Context &context;
        Agenda &agenda;
        Attempts &attempts;
        Voice &voice;
        GangStore &gangs;
        const std::map<std::string, Namespace> &namespaces;
        QueuePlaces &places;
        Placement &placement;
        SyncTimes &sync;
        const Pins &pins;
        SharedClaims &shared_claims;
        Room &room;
    };
    explicit Permission(const Parts &parts) : to_(parts) {}

    // If not, the gang is woken when it may be.
    bool may_act(GangEntry &entry, const Action &action);

  private:
    bool may_submit(GangEntry &entry);
    bool may_adopt(GangEntry &entry);
    bool may_cancel_orphan(GangEntry &entry);
    // Whether Pods that were split from this job still have no other.
    bool is_needed(JobRef lost) const;

    const Parts to_;
};

} // namespace bridge
