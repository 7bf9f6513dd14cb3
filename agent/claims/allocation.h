// SPDX-License-Identifier: GPL-2.0-or-later
// What is written into a ResourceClaim, as kube-scheduler writes it: first the
// finalizer, without which a claim can vanish under a running Pod, then the
// allocation and the reservation in one write. Each body is the claim as it was
// read, resourceVersion included, with that change, for a PUT. Pure.
#pragma once

#include "agent/claims/check.h"

#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace bridge {

// For PUT …/resourceclaims/NAME. text is the claim as it was read. "" when it
// is no claim's, or has the finalizer.
std::string protected_claim(std::string_view text);

// The same without it. "" when it has none.
std::string unprotected_claim(std::string_view text);

// status.allocation. chosen must be an allocation of the claim, in the order of
// its requests: see why_no_allocation().
std::string allocation_text(const ResourceClaim &claim,
                            const DeviceClasses &classes,
                            std::span<const ChosenDevice> chosen,
                            const std::string &node,
                            std::chrono::system_clock::time_point now);

// For PUT …/resourceclaims/NAME/status: the Pod may use it, too. With an
// allocation, which must be "" when the claim has one. What drivers said of its
// devices stays. "" when text is no claim's, the Pod has it already, 256 others
// have, or there would be no allocation, or two.
std::string reserved_claim(std::string_view text, std::string_view allocation,
                           const Pod &pod);

// For PUT …/resourceclaims/NAME/status: that Pod uses it no longer, and when no
// other does it is not allocated any more. "" when the Pod had not reserved it.
std::string released_claim(std::string_view text, const std::string &pod_uid);

} // namespace bridge
