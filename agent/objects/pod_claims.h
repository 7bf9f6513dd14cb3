// SPDX-License-Identifier: GPL-2.0-or-later
// The entries of a Pod's spec.resourceClaims. Pure.
#pragma once

#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

struct PodClaim {
    std::string entry; // name of the entry in the Pod
    // Name of the claim. Empty: it has not been created from its template yet,
    // or is not needed.
    std::string claim;
    // Name of the template. Empty: the Pod names an existing claim.
    std::string from_template;
    bool not_needed = false; // its controller says that it needs no claim
    // The entry names neither a claim nor a template, which is impossible in
    // the API versions that we know.
    bool unknown = false;

    bool operator==(const PodClaim &) const = default;
};

std::vector<PodClaim> pod_claims_of(const Json &pod);

} // namespace bridge
