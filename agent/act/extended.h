// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the ResourceClaim of a Pod's extended resources, says on the Pod which
// it is, and takes it back: kube-scheduler's steps, in its order. On a worker
// thread; every step may be repeated, also by another agent.
#pragma once

#include "agent/calls/kube_api.h"
#include "agent/gres/claim_plan.h"

#include <vector>

namespace bridge {

// The plan with the uid of its claim, which is made unless it is there: by an
// earlier try, of whatever agent. Code::rejected when another has
// its name, or one that asks for something else.
Result<ClaimPlan> with_claim_made(const ClaimPlan &plan, const Pod &pod,
                                  Kube &kube);

// Once all claims are reserved. False: the API server does not keep it.
Result<bool> tell_extended(const Pod &pod, const std::vector<ClaimPlan> &claims,
                           Kube &kube);

// Nobody else takes back what a Pod on no node has, once that has failed:
// success also when there is nothing, or no right to look. Code::conflict when
// it has been bound.
Result<> remove_extended(const Pod &pod, Kube &kube);

} // namespace bridge
