// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims and DeviceClasses (resource.k8s.io/v1) as values, read from
// JSON. Users write claims. Opaque parameters are kept byte for byte, because
// the API server compares the bytes when an allocation is written again. Pure.
#pragma once

#include "agent/cel/cel.h"
#include "agent/objects/device.h"
#include "agent/objects/objects.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

class Json;

// Amounts of a device's capacities, by the names in its slice.
using Capacities = std::map<QualifiedName, Quantity>;

struct DeviceToleration {
    std::string key; // empty: tolerates any taint
    bool exists = false;
    std::string value;
    std::string effect; // empty: any
    std::string json;   // the original JSON, copied into the allocation result
};

// A request, or one of the choices of a firstAvailable request.
struct DeviceRequest {
    std::string name; // a choice is "REQUEST/CHOICE", as in results
    std::string class_name;
    std::vector<CelSelector> selectors;
    bool all = false; // every device that fits, instead of count devices
    std::int64_t count = 1;
    bool admin_access = false;
    std::vector<DeviceToleration> tolerations;
    Capacities capacity;
};

struct ClaimRequest {
    std::string name;
    // One, or the ordered choices of firstAvailable.
    std::vector<DeviceRequest> choices;
};

struct DeviceConstraint {
    bool distinct = false;             // all values differ; else all are equal
    std::string attribute;             // "domain/id"
    std::vector<std::string> requests; // empty: all
};

struct DeviceConfig {
    std::vector<std::string> requests; // empty: all
    std::string opaque;                // the original bytes
};

struct ClaimConsumer {
    std::string resource; // "pods"
    std::string name;
    std::string uid;
};

struct ResourceClaim {
    ObjectKey key;
    std::string uid;
    std::string resource_version;
    bool deleting = false;
    bool has_finalizer = false;          // has delete_protection
    bool for_extended_resources = false; // created by a scheduler
    // For a claim from a template: the name of the entry in the Pod.
    std::string pod_claim_name;
    std::string owner_uid; // uid of its controller
    // Name of the PodGroup that is its controller, so that all Pods of the
    // group share it; else empty.
    std::string pod_group;
    std::vector<ClaimRequest> requests;
    std::vector<DeviceConstraint> constraints;
    std::vector<DeviceConfig> config;
    bool allocated = false;
    bool allocated_by_us = false;  // according to its managedFields
    std::vector<DeviceId> devices; // allocated, without those of adminAccess
    // Devices of which it has only a share (shareID).
    std::set<DeviceId> in_shares;
    // What its shares consume, by device; several shares of one device are
    // added up.
    std::map<DeviceId, Capacities> consumed;
    // Where the allocated devices can be used. Nothing: everywhere.
    std::optional<NodeSelector> places;
    std::vector<ClaimConsumer> reserved_for;
    // What in its spec is not supported, as a message for the Pod's owner, or
    // empty.
    std::string unfit_reason;
    // The JSON of the claim if it came from a watch. Empty if it cannot be
    // written back unchanged, or is not kept.
    std::string text;

    bool is_reserved_for(const std::string &pod_uid) const;
};

using ResourceClaimPtr = std::shared_ptr<const ResourceClaim>;

// The number of Pods that can share a claim: the API server's limit.
inline constexpr std::size_t max_consumers = 256;

// Limit for the text of all selectors of a claim together, in bytes. All claims
// of the cluster are kept in memory, and a parsed selector takes some 100 times
// as much memory as its text. The API server allows 10 KiB for each selector,
// and 32 selectors in a request.
inline constexpr std::size_t max_selector_text = 64 * 1024;

// The finalizer that keeps a claim while it is allocated.
inline constexpr char delete_protection[] =
    "resource.kubernetes.io/delete-protection";

// Annotation of a claim that a scheduler created for a Pod's extended
// resources; its value is "true".
inline constexpr char extended_claim_annotation[] =
    "resource.kubernetes.io/extended-resource-claim";

// Reads a claim. text is the JSON text from which json was parsed. The parsed
// selectors of a claim that is allocated or not supported are freed, since they
// are not evaluated any more.
ResourceClaim resource_claim_from(const Json &json, std::string_view text);

// Reads a claim from a watch event, with its text if that is safe to write
// back.
ResourceClaim watched_claim(const Json &json);

struct DeviceClass {
    std::string name;
    std::chrono::sys_seconds created{};
    std::vector<CelSelector> selectors;
    std::vector<DeviceConfig> config;
    std::string extended_resource_name;
    std::string unfit_reason; // what in it is not supported, or empty
};

DeviceClass device_class_from(const Json &json, std::string_view text);

} // namespace bridge
