// SPDX-License-Identifier: GPL-2.0-or-later
// The number of CPUs that a Pod needs if its ResourceClaims contain CPU
// devices. A container that names such a claim runs on the CPUs of the claim,
// whatever else it requests. The claim keeps its CPUs as long as the Pod lives,
// and containers that do not name it cannot use them. Kubernetes never adds up
// requests and claims; drivers ask users to write the same number in both
// places, which not all users do. So the Pod needs
//
//   the CPUs of all its claims
//   + what its containers request beyond the CPUs of the claims that they name
//   or its requests as the API defines them, if these are larger
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
    std::string request; // one request of the claim; empty: all of them

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
    // Init containers first, in order. Empty if no container names a claim.
    std::vector<ContainerCpus> containers;
    MilliCpu overhead;

    bool operator==(const PodCpus &) const = default;
};

// Reads the containers of a Pod. Amounts that are not quantities count as 0
// here; pod_requests() reports them.
PodCpus pod_cpus_of(const Json &pod);

// The number of CPUs in a claim, by entry of the Pod and name of the request.
using ClaimCpus = std::map<std::string, std::map<std::string, std::int64_t>>;

// Returns the CPUs that the Pod needs from its job. requests: the CPU requests
// of the whole Pod as the API defines them.
MilliCpu cpus_with_claims(const PodCpus &pod, MilliCpu requests,
                          const ClaimCpus &claims);

} // namespace bridge
