// SPDX-License-Identifier: GPL-2.0-or-later
// What the volumes of Pods need of a Node: when their claims are read, and how
// long what was read is believed. It alone writes volumes of a Gang, and what
// GangEntry has about them. Owner thread only.
#pragma once

#include "agent/act/act.h"
#include "agent/gang/action.h"
#include "agent/gang/store.h"
#include "agent/owner/agenda.h"
#include "agent/owner/attempts.h"
#include "agent/owner/context.h"
#include "agent/owner/voice.h"

namespace bridge {

class VolumeLooks {
  public:
    VolumeLooks(const Context &context, Agenda &agenda, Attempts &attempts,
                Voice &voice)
        : context_(context), agenda_(agenda), attempts_(attempts), voice_(voice)
    {
    }

    // Forgets what was read and is to be read again. The gang is woken when it
    // is.
    void refresh(GangEntry &entry);
    // A LookVolumes or BindVolumes has read this.
    void take(GangEntry &entry, VolumesSeen &seen, const Action &action);
    // The job was given up: the next one may go elsewhere.
    static void forget(GangEntry &entry) { entry.gang.volumes.reset(); }

  private:
    const Context &context_;
    Agenda &agenda_;
    Attempts &attempts_;
    Voice &voice_;
};

} // namespace bridge
