// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the agent that the owner thread uses. All of them may be called
// from its thread, and outlive it; only the fixed values are the thread's own.
#pragma once

#include "agent/calls/access.h"
#include "agent/calls/workers.h"
#include "agent/objects/group_spec.h"
#include "agent/owner/group_looks.h"
#include "agent/owner/plugin_connection.h"
#include "common/base/mailbox.h"
#include "common/contract/hook_message.h"
#include "common/slurm/api.h"

#include <functional>
#include <set>
#include <string>

namespace bridge {

struct BridgePorts {
    Slurm &slurm;
    TaskQueue &submits;   // for Submit: thousands may come at once
    TaskQueue &workers;   // for all other actions
    TaskQueue &reporters; // for conditions and Events, which may wait
    // Sends to prep/k8s, if that connection still exists.
    std::function<void(HookMessage, PluginConnection to)> send_hook;
    // ask before using a component's verb
    const Access &access = Access::unlimited();
    std::set<GroupApi> group_apis = {}; // APIs that are watched
    std::string scripts_dir = {};       // of batch jobs; empty: there are none
    // Path of the srun program, if there is one: agent/batch/srun.h.
    std::string srun = {};
    // Requests a look for that API; answered by GroupsListed. Null: nobody
    // looks, and an API that was absent stays absent.
    std::function<GroupLooks::Number(GroupApi)> look_for_groups = {};
    // A job waits until the slurmd Pods of its nodes are protected. Null: there
    // are none.
    std::function<void()> look_at_workers = {};
    // By which a turn measures how long it takes.
    std::function<Clock::time_point()> clock = Clock::now;
};

} // namespace bridge
