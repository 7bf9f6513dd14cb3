// SPDX-License-Identifier: GPL-2.0-or-later
// The bodies of the writes to a ResourceClaim, in the order in which
// kube-scheduler makes them: first the finalizer, without which a claim can
// vanish under a running Pod, then the allocation and the reservation in one
// write. Each body is the claim as it was read, resourceVersion included, with
// that change, for a PUT. Pure.
#pragma once

#include "agent/claims/check.h"

#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace bridge {

// Adds the finalizer. Returns the body for PUT …/resourceclaims/NAME. text is
// the claim as it was read. Returns "" if text is not a claim or already has
// the finalizer.
std::string protected_claim(std::string_view text);

// Removes the finalizer, likewise. Returns "" if the claim does not have it.
std::string unprotected_claim(std::string_view text);

// Returns status.allocation. chosen must be an allocation of the claim, in the
// order of its requests: see no_allocation_reason().
std::string allocation_text(const ResourceClaim &claim,
                            const DeviceClasses &classes,
                            std::span<const ChosenDevice> chosen,
                            const std::string &node,
                            std::chrono::system_clock::time_point now);

// Adds the Pod as a consumer, and the allocation, which must be "" if the claim
// already has one. Returns the body for PUT …/resourceclaims/NAME/status; what
// drivers wrote about its devices stays. Returns "" if text is not a claim, the
// Pod is already a consumer, there are 256 consumers, or the claim would have
// no allocation or two.
std::string reserved_claim(std::string_view text, std::string_view allocation,
                           const Pod &pod);

// Removes the Pod as a consumer, and the allocation with the last consumer.
// Returns the body for PUT …/resourceclaims/NAME/status, or "" if the Pod was
// not a consumer.
std::string released_claim(std::string_view text, const std::string &pod_uid);

} // namespace bridge
