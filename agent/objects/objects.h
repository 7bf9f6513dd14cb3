// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes objects as values: only the fields we use, read once from JSON.
// Pure; knows nothing of Slurm. What a user may write (names, labels,
// annotations, quantities) is copied as it is and checked where it is used.
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
    std::string ns; // empty for what has no namespace
    std::string name;

    auto operator<=>(const ObjectKey &) const = default;
    std::string str() const { return ns.empty() ? name : ns + "/" + name; }
};

// The effective requests of a Pod: init containers, sidecars, overhead and
// pod-level resources counted as the API defines it (component-helpers,
// resource/helpers.go PodRequests).
struct Requests {
    MilliCpu cpu;
    Bytes memory;
    std::map<std::string, std::int64_t> others; // devices, hugepages, storage

    bool operator==(const Requests &) const = default;
};

// How one container ended, or that it has not.
struct ContainerEnd {
    std::string name;
    bool terminated = false;
    int exit_code = 0;
    int signal = 0;
    std::string reason; // such as "Error" or "OOMKilled"
};

// The PodScheduled condition, which we write while a Pod waits.
struct ScheduledCondition {
    std::string status; // "True", "False" or "": none
    std::string reason;
    std::string message;

    bool operator==(const ScheduledCondition &) const = default;
};

struct GangKey; // gang_key.h
using GangKeyPtr = std::shared_ptr<const GangKey>;

// An ownerReference of a controller; the kind is empty where there is none.
struct OwnerRef {
    std::string api_version; // "batch/v1"
    std::string kind;
    std::string name;
    std::string uid;

    bool operator==(const OwnerRef &) const = default;
};

struct Pod {
    ObjectKey key;
    std::string uid;
    std::string resource_version;
    std::int64_t generation = 0; // metadata.generation
    TextMap labels;              // those under our prefixes and Slinky's
    TextMap annotations;         // likewise
    OwnerRef owner;
    GangKeyPtr gang; // null: it is alone

    std::chrono::sys_seconds created{};

    std::string scheduler_name;
    std::string priority_class;
    std::string node_name;
    bool gated = false;                          // has scheduling gates
    bool deleting = false;                       // has a deletionTimestamp
    std::optional<std::int64_t> active_deadline; // seconds
    std::chrono::seconds grace_period{30};       // from TERM to KILL
    Requests requests;
    PredicatePtr predicate; // which Nodes it may run on
    PredicatePtr preferred; // and on which of these it would; null: on any
    std::vector<ClaimRef> claims;          // its volumes that are claims
    std::vector<PodClaim> resource_claims; // its devices
    PodCpus cpus; // of its containers, where some name such claims
    // Likewise, where a DeviceClass offers them; in the order of containers.
    std::vector<ContainerAsks> extended;
    // Why the API server should not have taken it, or what we cannot honour
    // yet; sentences for its owner. A Pod with any is refused visibly.
    std::vector<std::string> objections;

    // The ResourceClaim that its status names for these.
    std::string extended_claim;
    std::string phase;  // Pending, Running, Succeeded, Failed, Unknown
    std::string reason; // such as "Evicted" or "OutOfcpu"
    std::string message;
    ScheduledCondition scheduled;
    // Of its DisruptionTarget condition, such as "DeletionByPodGC"; empty:
    // none.
    std::string disruption;
    std::chrono::sys_seconds
        start_time{};     // when kubelet took it; epoch: not yet
    bool started = false; // some container of it runs, or has run
    std::vector<ContainerEnd> containers; // in the order of the spec
    // Of a batch job's: why its container is not started; empty: nothing odd.
    std::string cannot_start;

    bool needs_devices() const
    {
        return !resource_claims.empty() || !extended.empty();
    }
    bool bound() const { return !node_name.empty(); }
    // Its containers may be alive.
    bool living() const { return bound() && !terminal(); }
    // Its containers have ended for good.
    bool terminal() const { return phase == "Succeeded" || phase == "Failed"; }
    std::string label(const std::string &name) const;
    std::string annotation(const std::string &name) const;
};

using PodPtr = std::shared_ptr<const Pod>;

// A workload that owns Pods, or owns what does.
struct Workload {
    std::string uid;
    TextMap annotations; // those under our prefixes and Slinky's
    OwnerRef owner;
};

struct Taint {
    std::string key;
    std::string value;
    std::string effect;
    std::string time_added = {}; // as Kubernetes writes it, or empty

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
    std::chrono::sys_seconds ready_changed{}; // when that became so
    bool deleting = false;
    std::vector<Taint> taints;
    Requests allocatable;
    std::string objection; // an amount that is not a quantity; else empty

    std::string label(const std::string &key) const;
    std::string annotation(const std::string &key) const;
};

using NodePtr = std::shared_ptr<const Node>;

struct Namespace {
    std::string name;
    TextMap labels;
    TextMap annotations;
};

// From the object's JSON; a field that is missing or of a wrong type is empty.
Pod pod_from(const Json &object);
Node node_from(const Json &object);
Namespace namespace_from(const Json &object);
Workload workload_from(const Json &object);

} // namespace bridge
