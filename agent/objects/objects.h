// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes objects as values: only the fields that the agent uses, read once
// from JSON. Pure; knows nothing of Slurm. What users may write (names, labels,
// annotations, quantities) is copied unchanged and checked where it is used.
#pragma once

#include "agent/objects/extended_resources.h"
#include "agent/objects/pod_claims.h"
#include "agent/objects/pod_cpus.h"
#include "agent/objects/predicate.h"
#include "agent/objects/volumes.h"
#include "common/base/json.h"
#include "common/base/units.h"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

using TextMap = std::map<std::string, std::string>;

struct ObjectKey {
    std::string ns; // empty for cluster-scoped objects
    std::string name;

    auto operator<=>(const ObjectKey &) const = default;
    std::string str() const { return ns.empty() ? name : ns + "/" + name; }
};

// The effective requests of a Pod. Init containers, sidecars, overhead and
// pod-level resources are counted as the API defines it (component-helpers,
// resource/helpers.go PodRequests).
struct Requests {
    MilliCpu cpu;
    Bytes memory;
    std::map<std::string, std::int64_t> others; // devices, hugepages, storage

    bool operator==(const Requests &) const = default;
};

// How a container ended, if it has ended.
struct ContainerEnd {
    std::string name;
    bool terminated = false;
    int exit_code = 0;
    int signal = 0;
    std::string reason; // such as "Error" or "OOMKilled"
};

// A condition such as PodScheduled, which the agent writes while a Pod waits.
struct ScheduledCondition {
    std::string status; // "True", "False", or "" if there is none
    std::string reason;
    std::string message;

    bool operator==(const ScheduledCondition &) const = default;
};

struct GangKey; // gang_key.h
using GangKeyPtr = std::shared_ptr<const GangKey>;

// The ownerReference of a controller. The kind is empty if there is none.
struct OwnerRef {
    std::string api_version; // "batch/v1"
    std::string kind;
    std::string name;
    std::string uid;

    auto operator<=>(const OwnerRef &) const = default;
};

struct Pod {
    ObjectKey key;
    std::string uid;
    std::string resource_version;
    std::int64_t generation = 0; // metadata.generation
    TextMap labels;              // only those under our prefixes and Slinky's
    TextMap annotations;         // likewise, and the autoscalers' (names.h)
    OwnerRef owner;
    GangKeyPtr gang; // null: the Pod is alone

    std::chrono::sys_seconds created{};
    // When the owner thread took the first event about it, by our clock. Epoch:
    // it was first in a list. In JSON there is no such time.
    std::chrono::system_clock::time_point arrived{};

    std::string scheduler_name;
    std::string priority_class;
    std::string node_name;
    bool gated = false;    // has scheduling gates
    bool deleting = false; // has a deletionTimestamp
    // The grace period of that deletion. 0: deleted by force.
    std::optional<std::chrono::seconds> deletion_grace;
    std::optional<std::int64_t> active_deadline; // seconds
    std::chrono::seconds grace_period{30};       // from SIGTERM to SIGKILL
    // The longest one that a probe of a container has for itself. 0: none has.
    std::chrono::seconds probe_grace{0};
    Requests requests;
    PredicatePtr predicate;       // the Nodes on which it may run
    PredicatePtr preferred;       // the preferred ones of these; null: any
    std::vector<ClaimRef> claims; // its PersistentVolumeClaims
    std::vector<PodClaim> resource_claims; // its ResourceClaims (devices)
    PodCpus cpus; // of its containers, if one of them names a ResourceClaim
    // The extended resources that its containers request, in the order of the
    // containers.
    std::vector<ContainerAsks> extended;
    // Reasons for the Pod's owner why the API server should have refused the
    // Pod, or why the agent cannot honour it yet. A Pod that has any is refused
    // visibly.
    std::vector<std::string> unfit_reasons;

    // The ResourceClaim for extended resources that its status names.
    std::string extended_claim;
    std::string phase;  // Pending, Running, Succeeded, Failed, Unknown
    std::string reason; // such as "Evicted" or "OutOfcpu"
    std::string message;
    ScheduledCondition scheduled;
    std::string nominated_node; // nominatedNodeName of its status, or empty
    // The reason of its DisruptionTarget condition, such as "DeletionByPodGC",
    // or empty.
    std::string disruption;
    std::chrono::sys_seconds
        start_time{};     // when its kubelet accepted it; epoch: not yet
    bool started = false; // a container runs or has run
    std::vector<ContainerEnd> containers; // in the order of the spec
    // For the Pod of a batch job: why its container does not start, or empty.
    std::string start_failure_reason;

    bool needs_devices() const
    {
        return !resource_claims.empty() || !extended.empty();
    }
    bool bound() const { return !node_name.empty(); }
    // Returns true if its containers may be running.
    bool living() const { return bound() && !terminal(); }
    // Returns true if all its containers have ended for good.
    bool terminal() const { return phase == "Succeeded" || phase == "Failed"; }
    std::string label(const std::string &name) const;
    std::string annotation(const std::string &name) const;
};

using PodPtr = std::shared_ptr<const Pod>;

// A workload that owns Pods, or that owns an owner of Pods.
struct Workload {
    std::string uid;
    TextMap annotations; // only those under our prefixes and Slinky's
    OwnerRef owner;
};

struct Taint {
    std::string key;
    std::string value;
    std::string effect;
    std::string time_added = {}; // in Kubernetes' format, or empty

    bool operator==(const Taint &) const = default;
};

struct Node {
    std::string name;
    std::string uid;
    std::string resource_version;
    TextMap labels;
    TextMap annotations;
    std::chrono::sys_seconds created{};
    bool unschedulable = false;
    bool ready = false;
    std::chrono::sys_seconds ready_changed{}; // when ready last changed
    bool deleting = false;
    std::vector<Taint> taints;
    Requests allocatable;
    std::string unfit_reason; // the amount that is not a quantity, or empty

    std::string label(const std::string &key) const;
    std::string annotation(const std::string &key) const;
};

using NodePtr = std::shared_ptr<const Node>;

struct Namespace {
    std::string name;
    TextMap labels;
    TextMap annotations;
};

// These read the JSON of an object. A field that is missing or has the wrong
// type is read as empty.
Pod pod_from(const Json &object);
Node node_from(const Json &object);
Namespace namespace_from(const Json &object);
Workload workload_from(const Json &object);

} // namespace bridge
