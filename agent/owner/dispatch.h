// SPDX-License-Identifier: GPL-2.0-or-later
// Hands the action of a gang to the worker threads, and a large binding to
// several of them at once, in stages: all ResourceClaims before any Pod, the
// Pod of a batch job's script last. The devices that the action gives out are
// reserved before, and messages that it makes untrue are dropped. The outcome
// comes as ActionDone. Owner thread only.
#pragma once

#include "agent/act/act.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/het_jobs.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/plugin_line.h"
#include "agent/owner/voice.h"

#include <map>
#include <string>

namespace bridge {

class Dispatch {
  public:
    struct Parts {
        const Context &context;
        const Errands &errands;
        const PluginLine &line;
        const Voice &voice;
        const KnownNodes &nodes;
        const std::map<std::string, Namespace> &namespaces;
        HetJobs &het_jobs;
        KnownDevices &devices;
    };
    explicit Dispatch(const Parts &parts) : to_(parts) {}

    // The gang has no action in flight.
    void begin(GangEntry &entry, Action action);

  private:
    const Parts to_;
    Owners owners_; // thread-safe; shared with the worker threads
};

} // namespace bridge
