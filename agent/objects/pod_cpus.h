// SPDX-License-Identifier: GPL-2.0-or-later
// The CPUs of a Pod some of which are devices in its ResourceClaims. A
// container that names such a claim runs on these, whatever else it requests;
// the claim keeps them as long as the Pod lives, and who does not name it has
// no part in them. Kubernetes adds up requests and claims nowhere; drivers ask
// users to write the same number twice, which not all do. So the Pod needs
//
//   the CPUs of all its claims
//   + what its containers request beyond the CPUs of the claims that they name
//   or its requests as the API defines them, where these are more
//
// Pure.
#pragma once

#include "common/base/json.h"
#include "common/base/units.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bridge {

// An entry of a container's resources.claims.
struct ClaimUse {
    std::string entry;   // the Pod's name for the claim
    std::string request; // of it, alone; empty: all of them

    bool operator==(const ClaimUse &) const = default;
};

struct ContainerCpus {
    enum class Kind { app, sidecar, init };

    Kind kind = Kind::app;
    MilliCpu requests;
    std::vector<ClaimUse> uses;

    bool operator==(const ContainerCpus &) const = default;
};

struct PodCpus {
    // Init containers first, in order; none where no container names a claim.
    std::vector<ContainerCpus> containers;
    MilliCpu overhead;

    bool operator==(const PodCpus &) const = default;
};

// Amounts that are no quantities count as none: pod_requests() objects to them.
PodCpus pod_cpus_of(const Json &pod);

// The CPUs in the claim of each entry, by request: "cpus".
using ClaimCpus = std::map<std::string, std::map<std::string, std::int64_t>>;

// What the Pod needs of its job; requests: of the whole Pod, as the API defines
// them.
MilliCpu cpus_with_claims(const PodCpus &pod, MilliCpu requests,
                          const ClaimCpus &claims);

} // namespace bridge
