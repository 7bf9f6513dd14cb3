// SPDX-License-Identifier: GPL-2.0-or-later
// The volume claims of a gang's waiting Pods. Pods may share claims, and every
// node of the gang has to reach the volumes of all Pods. Pure.
#pragma once

#include "agent/gang/gang.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// Whether Pods of the gang have volume claims at all.
bool any_claims(const Gang &gang);

// Whether some waiting Pod has claims.
bool has_claims(const Gang &gang);

// Returns the claim names of the waiting Pods.
std::set<std::string> claim_names(const Gang &gang);

// Returns one waiting Pod with the claims of all of them, so that one read
// covers all. Requires has_claims().
Pod with_all_claims(const Gang &gang);

VolumeNeeds volume_needs(const Gang &gang, const VolumeFacts &facts);

struct SeatClaim {
    ClaimStep step;
    NodePtr node; // Node of the first Pod, in seat order, that has the claim
};

// Returns what has to be written for the unbound claims of the Pods with a
// seat. Fails with Code::conflict as claim_steps() in objects/volumes.h does,
// and for a Node that does not exist.
Result<std::vector<SeatClaim>>
claim_steps(const Gang &gang, const std::vector<Seat> &seats,
            const VolumeFacts &facts,
            const std::map<std::string, NodePtr> &nodes);

} // namespace bridge
