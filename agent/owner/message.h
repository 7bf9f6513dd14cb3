// SPDX-License-Identifier: GPL-2.0-or-later
// Every event that can reach the owner thread.
#pragma once

#include "agent/act/act.h"
#include "agent/claims/resource_claim.h"
#include "agent/claims/resource_slice.h"
#include "agent/nodes/sync.h"
#include "agent/objects/group_spec.h"
#include "agent/objects/objects.h"
#include "agent/owner/group_looks.h"
#include "agent/owner/news.h"
#include "agent/owner/plugin_connection.h"
#include "common/base/result.h"
#include "common/contract/conf.h"
#include "common/contract/hook_message.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace bridge {

// A complete list, which replaces what was known from the same source. source
// is the scheduler name for Pods and "" for everything else.
template <class Object> struct Listed {
    std::string source;
    std::vector<Object> objects;
};

template <class Object> struct Changed {
    Object object;
    bool deleted = false;
};

// The objects of one API that defines the size of gangs; specs is not set if
// the cluster has no such API. path: its version; null: unknown. look: the look
// that found this out.
struct GroupsListed {
    GroupApi api = GroupApi::none;
    std::optional<std::vector<GroupSpec>> specs;
    const GroupApiPath *path = nullptr;
    GroupLooks::Number look = 0;
};

// A list or watch fails, or works again (then error is empty).
struct WatchState {
    std::string what;
    std::string error;
};

struct HookReceived {
    HookMessage message;
    PluginConnection from = 0;
};
struct HookLost {};

struct ActionDone {
    std::string gang; // uid
    Action action;
    Result<Outcome> outcome;
};
struct JobsLoaded {
    Result<std::vector<Job>> jobs;
};
struct StatesLoaded {
    Result<std::vector<JobStateHint>> states;
};
struct GraceTimesLoaded {
    Result<GraceTimes> times;
};
// The result of an attempt to make the Pods of a batch job.
struct BatchPodMade {
    JobRef job;
    Result<Job> now;
    unsigned began = 0; // absences of slurmctld when it began
};
// The Slurm nodes of slurmd Pods that somebody may evict.
struct WorkersUnprotected {
    std::set<std::string> nodes;
};
struct NodesSynced {
    Result<NodeSyncResult> result;
};

// Calls the function on the owner thread, which alone may look at its state.
struct Ask {
    std::function<void()> question;
};
struct Reload {
    std::shared_ptr<const Conf> conf;
};
struct Stop {};

using Message = std::variant<
    Listed<Pod>, Changed<Pod>, Listed<Node>, Changed<Node>, Listed<Namespace>,
    Changed<Namespace>, Listed<ForeignPod>, Changed<ForeignPod>, GroupsListed,
    Changed<GroupSpec>, Listed<ResourceSlice>, Changed<ResourceSlice>,
    Listed<DeviceClass>, Changed<DeviceClass>, Listed<ResourceClaim>,
    Changed<ResourceClaim>, WatchState, HookReceived, HookLost, ActionDone,
    JobsLoaded, StatesLoaded, GraceTimesLoaded, BatchPodMade, NodesSynced,
    WorkersUnprotected, LeaseNews, AccessNews, Ask, Reload, Stop>;

} // namespace bridge
