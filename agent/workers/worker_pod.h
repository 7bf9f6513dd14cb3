// SPDX-License-Identifier: GPL-2.0-or-later
// A worker, as its Pod describes it: a Pod of a NodeSet, in which slurmd runs.
// A value.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"
#include "common/contract/worker_request.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// A condition of a Pod, without its times.
struct WorkerCondition {
    std::string status; // "True", "False" or "Unknown"
    std::string reason;
    std::string message;

    bool operator==(const WorkerCondition &) const = default;
};

struct WorkerPod {
    ObjectKey key;
    std::string uid;
    std::string controller; // that its NodeSet names; "": it does not say
    std::string node_set;   // the name of its NodeSet
    std::chrono::sys_seconds created{};
    // Its addresses, one of which is Slurm's NodeAddr; empty: none yet.
    std::vector<std::string> addresses;
    bool placed = false; // on a Node: slurmd may run, whatever is known of it
    std::string slurm_node; // by which slurmd registers
    bool over = false;      // Succeeded or Failed: slurmd does not run
    bool ending = false;    // has a deletionTimestamp
    bool cordoned = false;
    WorkerRequest request; // of the operator; number 0: none
    bool for_good = false; // it is to drain, and none of its name comes back
    // What its Node says of the Slurm node; nothing: nothing was said.
    std::optional<std::string> topology;
    std::optional<std::string> features; // with commas, without our prefix
    std::string protect;                 // value of the label; "": it has none
    std::string deadline; // value of the annotation; "": it has none
    // Of the annotations by which autoscalers leave it alone those that it has,
    // and (separated by commas) those of them that are the agent's.
    std::set<std::string> autoscaler_marks;
    std::string own_marks;
    // The conditions that the agent sets, by type.
    std::map<std::string, WorkerCondition> conditions;

    bool operator==(const WorkerPod &) const = default;
};

// Returns nothing for a Pod that no NodeSet controls, or that has its Node's
// network: its address is also that of what else runs there. A request that
// cannot be read is none.
std::optional<WorkerPod> worker_from(const Json &pod);

} // namespace bridge
