// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims and DeviceClasses (resource.k8s.io/v1) as they are read. Users
// write claims. Opaque parameters are kept byte for byte: the API server
// compares them so when an allocation is written again.
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

// Of a device's capacities, by their names in its slice.
using Capacities = std::map<QualifiedName, Quantity>;

struct DeviceToleration {
    std::string key; // empty: of any taint
    bool exists = false;
    std::string value;
    std::string effect; // empty: any
    std::string json;   // as it is written, for the result
};

// What a request asks for, or one choice of firstAvailable.
struct DeviceRequest {
    std::string name; // of a choice: "REQUEST/CHOICE", as in results
    std::string class_name;
    std::vector<CelSelector> selectors;
    bool all = false; // every device that fits, instead of count
    std::int64_t count = 1;
    bool admin_access = false;
    std::vector<DeviceToleration> tolerations;
    Capacities capacity;
};

struct ClaimRequest {
    std::string name;
    std::vector<DeviceRequest> choices; // one; of firstAvailable in order
};

struct DeviceConstraint {
    bool distinct = false;             // else all have the same
    std::string attribute;             // "domain/id"
    std::vector<std::string> requests; // none: all
};

struct DeviceConfig {
    std::vector<std::string> requests; // none: all
    std::string json;                  // "opaque":{…}, as it is written
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
    bool has_finalizer = false; // the one that keeps it while it is used
    bool for_extended_resources = false; // made by a scheduler
    std::string pod_claim_name; // of a template's: the Pod's name for it
    std::string owner_uid;      // its controller's
    std::vector<ClaimRequest> requests;
    std::vector<DeviceConstraint> constraints;
    std::vector<DeviceConfig> config;
    bool allocated = false;
    bool allocated_by_us = false;  // as the API server remembers it
    std::vector<DeviceId> devices; // allocated; without those of adminAccess
    std::set<DeviceId> in_shares;  // of these it has only a share (shareID)
    // What its shares consume, by device; of several of one device in sum.
    std::map<DeviceId, Capacities> consumed;
    // Where they can be used; nothing: everywhere.
    std::optional<NodeSelector> places;
    std::vector<ClaimConsumer> reserved_for;
    // What of its spec is not supported, for the Pod's owner; else empty.
    std::string objection;
    // All of it, from a watch; empty where it cannot be written back as it is,
    // or is not kept.
    std::string text;

    bool is_reserved_for(const std::string &pod_uid) const;
};

using ResourceClaimPtr = std::shared_ptr<const ResourceClaim>;

// So many Pods can share one: the API server's limit.
inline constexpr std::size_t max_consumers = 256;

// Of all selectors of a claim together, in bytes: every claim of the cluster is
// kept, and a parsed selector takes some 100 times as much memory as its text.
// The API server allows 10 KiB for each, and 32 of them in a request.
inline constexpr std::size_t max_selector_text = 64 * 1024;

// Keeps a claim while it is allocated.
inline constexpr char delete_protection[] =
    "resource.kubernetes.io/delete-protection";

// On a claim that a scheduler made for a Pod's extended resources: "true".
inline constexpr char extended_claim_annotation[] =
    "resource.kubernetes.io/extended-resource-claim";

// text is what json was parsed from. Selectors of a claim that is allocated, or
// has an objection, are not asked any more: their trees are not kept.
ResourceClaim resource_claim_from(const Json &json, std::string_view text);

// As a watch tells of it: with its text, where that is good for a write.
ResourceClaim watched_claim(const Json &json);

struct DeviceClass {
    std::string name;
    std::chrono::sys_seconds created{};
    std::vector<CelSelector> selectors;
    std::vector<DeviceConfig> config;
    std::string extended_resource_name;
    std::string objection; // what of it is not supported; else empty
};

DeviceClass device_class_from(const Json &json, std::string_view text);

} // namespace bridge
