// SPDX-License-Identifier: GPL-2.0-or-later
// What is known about a gang's ResourceClaims when the agent decides what to do
// next. Values only.
#pragma once

#include "agent/gres/claim_plan.h"
#include "agent/objects/objects.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// A claim that has a Pod as its consumer.
struct ClaimHold {
    ObjectKey key;
    std::string uid;
    std::string pod = {}; // uid of the Pod
    bool remove = false;  // the agent created it for that Pod
};

struct GangDevices {
    std::string unfit_reason = {}; // why the gang can never run, or empty
    std::string reason = {}; // why it waits before a job is requested, or empty
    std::string gres = {};   // GRES of each task of a job: see task_gres()
    // What the claims ask for that are still to get devices, for messages; of a
    // gang, what those of its first Pod do: see asked_words().
    std::string asked = {};
    // The users' ResourceClaims, by name, whose devices are in gres: those that
    // Pods of other jobs may use, too.
    std::vector<std::string> counts = {};
    // The CPUs that each Pod with CPU devices needs from its job, for its
    // claims and its requests together, by uid of the Pod; and whether devices
    // are still to be chosen on a node that has CPU devices.
    std::map<std::string, std::uint32_t> cpus = {};
    bool on_cpu_nodes = false;
    // Claims that an earlier job reserved for a Pod that now has no node and no
    // job; the reservations are to be removed.
    std::vector<ClaimHold> left = {};
    // Its job is allocated, but the GRES of the job have not been read yet.
    bool unread = false;
    // The devices of its Pods are unknown: claims were not listed since the
    // start, a sync of the nodes did not count them, or it is not known yet
    // whether the agent may read them.
    bool unknown = false;
    // It is not known yet which devices fit its claims. `reason` says so, and
    // nothing else here follows from these. goes_on: since one turn was too
    // short to find it out; the next one goes on.
    bool unanswered = false;
    bool goes_on = false;
    // By Pod (uid) of a grouped gang: the only Slurm node of the job where the
    // Pod can use the devices that it has already.
    std::map<std::string, std::string> at = {};
    // The plan for the nodes of its job. For a grouped job it omits the Pods in
    // not_now (uids), which cannot have their devices now; the plan says why
    // the first of them cannot.
    ClaimsPlan plan = {};
    std::set<std::string> not_now = {};
    std::string node = {}; // the Kubernetes Node that plan.bad_node refers to
};

using GangDevicesPtr = std::shared_ptr<const GangDevices>;

} // namespace bridge
