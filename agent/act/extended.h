// SPDX-License-Identifier: GPL-2.0-or-later
// Creates the ResourceClaim for a Pod's extended resources, names it in the
// Pod's status, and removes it again, with kube-scheduler's steps in the same
// order. Runs on a worker thread; every step may be repeated, also by another
// agent.
#pragma once

#include "agent/calls/kube_api.h"
#include "agent/gres/claim_plan.h"

#include <vector>

namespace bridge {

// Creates the claim unless an earlier attempt of any agent has created it, and
// returns the plan with the claim's uid. Code::rejected if another claim has
// its name, or the claim requests something else.
Result<ClaimPlan> with_claim_made(const ClaimPlan &plan, const Pod &pod,
                                  Kube &kube);

// Names the claim in the Pod's status. Call when all claims are reserved.
// Returns false if the API server does not store it.
Result<bool> write_extended_status(const Pod &pod,
                                   const std::vector<ClaimPlan> &claims,
                                   Kube &kube);

// Removes the claim of a Pod that failed without being bound; nobody else does.
// Success also if there is none, or if the agent may not read claims.
// Code::conflict if the Pod has been bound.
Result<> remove_extended(const Pod &pod, Kube &kube);

} // namespace bridge
