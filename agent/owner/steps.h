// SPDX-License-Identifier: GPL-2.0-or-later
// Takes what was decided for a gang and needs no worker: an OwnerStep. It has
// no state. Owner thread only.
#pragma once

#include "agent/gang/action.h"
#include "agent/owner/agenda.h"
#include "agent/owner/batch_pods.h"
#include "agent/owner/context.h"
#include "agent/owner/device_troubles.h"
#include "agent/owner/gang_jobs.h"
#include "agent/owner/group_times.h"
#include "agent/owner/groups.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/voice.h"

#include <string>

namespace bridge {

class Steps {
  public:
    struct Parts {
        const Context &context;
        Agenda &agenda;
        Voice &voice;
        GangStore &gangs;
        Groups &groups;
        GroupTimes &times;
        GangJobs &gang_jobs;
        JobLists &lists;
        DeviceTroubles &device_troubles;
        BatchPods &batch_pods;
    };
    explicit Steps(const Parts &parts) : to_(parts) {}

    // May forget the gang, and entry with it.
    void take(GangEntry &entry, const OwnerStep &step);

  private:
    void split(const std::string &uid);

    const Parts to_;
};

} // namespace bridge
