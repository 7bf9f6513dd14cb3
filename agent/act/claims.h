// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out what is planned for a Pod's ResourceClaims: each write is guarded
// by the claim's resourceVersion, and may be repeated.
#pragma once

#include "agent/act/act.h"
#include "agent/calls/kube_api.h"
#include "agent/gres/claim_plan.h"
#include "agent/gres/gang_devices.h"

#include <string>
#include <vector>

namespace bridge {

// Claim by claim: it is made, where that is planned; the finalizer, then the
// allocation with the reservation in one write; for one that is allocated only
// that. Before the Pod is bound to that Node. Code::conflict when a claim is
// not as it was planned for, such as allocated by somebody else; Code::rejected
// when the API server refuses it.
Result<> reserve_claims(const Pod &pod, const std::vector<ClaimPlan> &claims,
                        const std::string &node, Kube &kube);

// All that the claims need before the Pod is bound to that Node:
// reserve_claims(), then the Pod's status names the one for its extended
// resources. Done or ClaimsRefused: what is reserved stays so until it is
// released.
Result<Outcome> prepare_claims(const Pod &pod,
                               const std::vector<ClaimPlan> &claims,
                               const std::string &node, Kube &kube);

// Asks, as a list may be late: what a Pod lives with is never taken from it.
// Success also where the Pod has gone; Code::conflict when it has been bound.
Result<> check_unbound(const Pod &pod, Kube &kube);

// The Pod has not been bound, and uses none of these any more: one without
// another consumer has no devices then, and no finalizer, and goes where it was
// made for that Pod.
Result<> release_claims(const Pod &pod, const std::vector<ClaimHold> &claims,
                        Kube &kube);

} // namespace bridge
