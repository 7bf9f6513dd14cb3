// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out the plan for a Pod's ResourceClaims. Each write is guarded by the
// claim's resourceVersion and may be repeated. Runs on a worker thread.
#pragma once

#include "agent/act/act.h"
#include "agent/calls/kube_api.h"
#include "agent/gres/claim_plan.h"
#include "agent/gres/gang_devices.h"

#include <string>
#include <vector>

namespace bridge {

// Reserves each claim for the Pod, before the Pod is bound to that Node:
// creates the claim if that is planned, adds the finalizer, then writes the
// allocation and the reservation in one request; an allocated claim gets only
// the reservation. Code::conflict if a claim is not as planned, for example
// allocated by somebody else; Code::rejected if the API server rejects it.
Result<> reserve_claims(const Pod &pod, const std::vector<ClaimPlan> &claims,
                        const std::string &node, Kube &kube);

// Does all that the claims need before the Pod is bound to that Node:
// reserve_claims(), then names the claim for its extended resources in the
// Pod's status. Returns Done or ClaimsRefused. Reservations stay until they are
// released.
Result<Outcome> prepare_claims(const Pod &pod,
                               const std::vector<ClaimPlan> &claims,
                               const std::string &node, Kube &kube);

// Asks the API server whether the Pod is unbound, because a list may be late
// and the claims of a running Pod must never be released. Success also if the
// Pod is gone; Code::conflict if it has been bound.
Result<> check_unbound(const Pod &pod, Kube &kube);

// Releases claims of a Pod that was not bound and does not use them any more. A
// claim without another consumer loses its devices and its finalizer, and is
// deleted if it was created for that Pod.
Result<> release_claims(const Pod &pod, const std::vector<ClaimHold> &claims,
                        Kube &kube);

} // namespace bridge
