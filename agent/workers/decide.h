// SPDX-License-Identifier: GPL-2.0-or-later
// What follows for a worker from what Slurm thinks of its node, and for the
// node from what Kubernetes wants of the Pod: a pure function. The same facts
// give the same answer, and each step may be repeated.
//
// A node is the Pod's if its NodeAddr is one of the Pod's addresses: a record
// of the same name with another address is that of an earlier Pod, or the
// network between slurmd and slurmctld hides the Pod's. Nothing is done for
// such a node.
#pragma once

#include "agent/workers/worker_pod.h"
#include "common/slurm/api.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace bridge {

// The jobs that have a node.
struct NodeJobs {
    unsigned count = 0;
    // When the last one ends at the latest; nothing: one has no time limit.
    std::optional<std::chrono::sys_seconds> end{};

    bool operator==(const NodeJobs &) const = default;
};

struct WorkerFacts {
    const SlurmNode *record = nullptr; // of the Pod's Slurm node; null: none
    // Nothing: not read since the node has changed.
    std::optional<NodeJobs> jobs{};
    // record and jobs were read after the request was seen and, if the node is
    // drained, after that.
    bool fresh = false;
    // This process has answered the request with True, and has heard of
    // slurmctld ever since.
    bool confirmed = false;
    // In seconds since 1970: when the slurmctld that was asked was started, and
    // when it was asked; of a confirmed answer, what that says.
    std::uint64_t slurmctld = 0;
    std::uint64_t read = 0;
};

// What is to be done with the Slurm node.
enum class WorkerStep {
    none,
    drain,
    resume,
    down,
};

struct WorkerPlan {
    // To be taken after the Pod carries what it should, so that an answer is
    // taken back before a node is resumed. A drain need not wait for that.
    WorkerStep step = WorkerStep::none;
    std::string reason; // for drain and down
    // The answer would be True; facts must be read afresh to say so.
    bool needs_fresh = false;
    bool drained = false; // the answer is True
    // What the Pod should carry. A condition that is not named stays.
    std::map<std::string, WorkerCondition> conditions;
    // What the Slurm node should have, and has not.
    std::optional<std::string> topology;
    std::optional<std::string> features; // all of them
    std::string protect;                 // "": no label
    std::string deadline;                // "": no annotation
};

WorkerPlan plan_worker(const WorkerPod &pod, const WorkerFacts &facts);

// Whether the node with this record belongs to the Pod.
bool is_node_of(const SlurmNode &record, const WorkerPod &pod);

// Whether the node was closed by us: drained, or set DOWN as its Pod was gone
// or had not come yet.
bool may_resume(const SlurmNode &record);

// The reason that a node gets when its Pod is gone. What somebody else has
// written there stays.
std::string gone_reason(const SlurmNode &record, const WorkerPod &pod);

// The Pod of this node, if the node's reason says that the Pod goes, or is
// gone, and that none of its name comes back. Reasons of others never do.
std::optional<ObjectKey> gone_for_good(const SlurmNode &record);

// The reason of a node to which no slurmd has come yet; and the NodeSet of such
// a node, if its reason says so.
std::string not_started_reason(const ObjectKey &set);
std::optional<ObjectKey> not_started_set(const SlurmNode &record);

// Whether the reason of a drain is one of ours.
bool is_worker_reason(const std::string &reason);

} // namespace bridge
