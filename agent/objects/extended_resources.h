// SPDX-License-Identifier: GPL-2.0-or-later
// The extended resources, such as example.com/gpu, that the containers of a Pod
// request. Pure. Which DeviceClass offers a resource is decided in
// agent/gres/extended_claim.h.
#pragma once

#include "common/base/json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Prefix of the implicit resource name of a DeviceClass, which works without a
// spec.extendedResourceName.
inline constexpr char class_resource_prefix[] =
    "deviceclass.resource.kubernetes.io/";

// Returns true if a DeviceClass may offer the resource: its name is outside
// Kubernetes' own domains, or it is "deviceclass.resource.kubernetes.io/CLASS".
bool is_extended_resource(std::string_view resource);

struct ExtendedAmount {
    std::string resource;
    std::int64_t count = 0; // above 0, and at most a million
    // Position of this resource among the names of all resources that its
    // container requests, sorted by name.
    std::size_t place = 0;

    bool operator==(const ExtendedAmount &) const = default;
};

struct ContainerAsks {
    std::string container;
    std::size_t index = 0;   // among initContainers, then containers
    bool ends_first = false; // an init container that is not a sidecar
    std::vector<ExtendedAmount> amounts; // sorted by name

    bool operator==(const ContainerAsks &) const = default;
};

// Returns only the containers that request at least one extended resource.
std::vector<ContainerAsks> extended_resources_of(const Json &pod);

// Names the request of a ResourceClaim that provides a resource to a container.
struct RequestMapping {
    std::string container;
    std::string resource;
    std::string request;

    bool operator==(const RequestMapping &) const = default;
};

// The contents of a Pod's status.extendedResourceClaimStatus.
struct ExtendedClaimStatus {
    std::string claim;
    std::vector<RequestMapping> mappings;
};

} // namespace bridge
