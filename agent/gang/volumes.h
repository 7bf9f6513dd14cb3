// SPDX-License-Identifier: GPL-2.0-or-later
// The volume claims of the Pods of a gang that wait, which may share some:
// every node of the gang has to reach the volumes of all of them. Pure.
#pragma once

#include "agent/gang/gang.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// Some Pod that waits has claims.
bool has_claims(const Gang &gang);

// Of those Pods, by name.
std::set<std::string> claim_names(const Gang &gang);

// One of those Pods, as if it had the claims of all: what is read of it is to
// be known of all. Only where has_claims().
Pod with_all_claims(const Gang &gang);

VolumeNeeds volume_needs(const Gang &gang, const VolumeFacts &facts);

struct SeatClaim {
    ClaimStep step;
    NodePtr node; // of the first Pod, in the order of the seats, that has it
};

// What has to be written for the unbound claims of the Pods with a seat.
// Code::conflict as of claim_steps(), and for a Node that is not there.
Result<std::vector<SeatClaim>>
claim_steps(const Gang &gang, const std::vector<Seat> &seats,
            const VolumeFacts &facts,
            const std::map<std::string, NodePtr> &nodes);

} // namespace bridge
