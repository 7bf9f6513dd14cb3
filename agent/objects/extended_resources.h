// SPDX-License-Identifier: GPL-2.0-or-later
// What the containers of a Pod ask for of extended resources, such as
// example.com/gpu. Pure; which DeviceClass offers one is
// agent/gres/extended_claim.h's business.
#pragma once

#include "common/base/json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// How the resources of DeviceClasses begin that say no name of their own.
inline constexpr char class_resource_prefix[] =
    "deviceclass.resource.kubernetes.io/";

// Whether a DeviceClass may offer the resource: one outside Kubernetes' own
// names, or "deviceclass.resource.kubernetes.io/CLASS".
bool is_extended_resource(std::string_view resource);

struct ExtendedAmount {
    std::string resource;
    std::int64_t count = 0; // above 0, and at most a million
    // Among the names of all that its container asks for, in order.
    std::size_t place = 0;

    bool operator==(const ExtendedAmount &) const = default;
};

struct ContainerAsks {
    std::string container;
    std::size_t index = 0;   // among initContainers, then containers
    bool ends_first = false; // an init container that is no sidecar
    std::vector<ExtendedAmount> amounts; // by name

    bool operator==(const ContainerAsks &) const = default;
};

// The containers that ask for any.
std::vector<ContainerAsks> extended_resources_of(const Json &pod);

// Which request of a claim gives a container what it asks for of a resource.
struct RequestMapping {
    std::string container;
    std::string resource;
    std::string request;

    bool operator==(const RequestMapping &) const = default;
};

// What status.extendedResourceClaimStatus of a Pod says.
struct ExtendedClaimStatus {
    std::string claim;
    std::vector<RequestMapping> mappings;
};

} // namespace bridge
