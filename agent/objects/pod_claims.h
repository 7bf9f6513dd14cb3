// SPDX-License-Identifier: GPL-2.0-or-later
// The ResourceClaims that a Pod's spec.resourceClaims name. Pure.
#pragma once

#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

struct PodClaim {
    std::string entry; // the Pod's name for it
    // Empty: not made yet from its template, or none is needed.
    std::string claim;
    std::string from_template; // that one; empty: the claim was there before
    bool not_needed = false;   // its controller says so
    // Neither a claim nor a template is named, which no version that we know
    // does.
    bool unknown = false;

    bool operator==(const PodClaim &) const = default;
};

std::vector<PodClaim> pod_claims_of(const Json &pod);

} // namespace bridge
