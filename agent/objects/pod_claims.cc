// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_claims.h"

namespace bridge {

namespace {

// Reads what kube-controller-manager reports about a claim that it creates from
// a template.
void read_status(const Json &pod, PodClaim &claim)
{
    for (const Json &made : pod.items("status/resourceClaimStatuses"))
        if (made.text("name") == claim.entry) {
            claim.claim = made.text("resourceClaimName");
            claim.not_needed = claim.claim.empty();
        }
}

} // namespace

std::vector<PodClaim> pod_claims_of(const Json &pod)
{
    std::vector<PodClaim> claims;
    for (const Json &entry : pod.items("spec/resourceClaims")) {
        PodClaim claim;
        claim.entry = entry.text("name");
        claim.claim = entry.text("resourceClaimName");
        claim.from_template = entry.text("resourceClaimTemplateName");
        claim.unknown = claim.claim.empty() == claim.from_template.empty();
        if (!claim.from_template.empty() && !claim.unknown)
            read_status(pod, claim);
        claims.push_back(std::move(claim));
    }
    return claims;
}

} // namespace bridge
