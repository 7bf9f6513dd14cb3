// SPDX-License-Identifier: GPL-2.0-or-later
// What stood against the devices of a gang's jobs: nodes whose devices did not
// fit, what the API server refused, and since when others have the devices. It
// alone writes what GangEntry has about that, and wakes gangs when it may be
// over. Owner thread only.
#pragma once

#include "agent/act/act.h"
#include "agent/gres/gang_devices.h"
#include "agent/owner/agenda.h"
#include "agent/owner/attempts.h"
#include "agent/owner/context.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/room.h"
#include "agent/owner/voice.h"

#include <vector>

namespace bridge {

class DeviceTroubles {
  public:
    struct Parts {
        const Context &context;
        Agenda &agenda;
        Attempts &attempts;
        Voice &voice;
        GangStore &gangs;
        Room &room;
        KnownDevices &devices;
    };
    explicit DeviceTroubles(const Parts &parts) : to_(parts) {}

    // The plan waits for devices; after a while it becomes one that does not
    // fit. The gang is woken until then.
    void wait(GangEntry &entry, GangDevices &devices);
    // The gang can have its devices.
    static void over(GangEntry &entry) { entry.devices_missed_since.reset(); }
    // No answer about devices is missing any more. While one was, nobody could
    // find out what they have to wait for: they have not waited in that time.
    void answered(GangEntry &entry) const;
    // Whether it waits for so short a time that nobody is told.
    bool may_be_short(const GangEntry &entry) const;

    // The API server has refused a claim of the gang.
    void refused(GangEntry &entry, const ClaimsRefused &refused);
    // The gang's job was given up: if because of its node's devices, the next
    // one is kept off that node.
    void given_up(GangEntry &entry);
    // Returns what keeps the gang off such nodes, if there are any. The gang is
    // woken when that is over.
    std::vector<NodeSelector> but_for_excluded(GangEntry &entry);

    // Wakes gangs that may get their devices now.
    void wake_for(DeviceChange change);

  private:
    void exclude_node(GangEntry &entry);
    void wake_for(const std::string &uid, GangEntry &entry,
                  DeviceChange change);

    const Parts to_;
};

} // namespace bridge
