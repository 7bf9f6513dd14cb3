// SPDX-License-Identifier: GPL-2.0-or-later
// Allocated ResourceClaims that several Pods name. One job counts the devices
// of a claim, and lives until the last Pod that uses them is over, so that
// Slurm never believes them to be free. Other Pods follow only while that job
// lives, and some only one at a time. Pure.
//
//   its devices are               another Pod
//   ----------------------------  ---------------------------------------------
//   CPUs                          waits: dra-driver-cpu gives them to one
//                                 container (its docs/user/feature-support.md)
//   GRES of a node with a slurmd  waits: ordinary jobs would get what Slurm
//                                 believes is free
//   counted by Slurm elsewhere    follows while the job that counts the claim
//                                 lives, and some Pod uses it; otherwise waits
//                                 until the claim is given back
//   not counted by Slurm          follows
#pragma once

#include "agent/gres/needs.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

enum class Counting {
    nobody,
    soon, // a job that lives does, but its Pods are not on nodes yet
    now,  // a job that lives does, as long as any Pod uses the claim
};

struct SharingFacts {
    const DeviceCatalog &catalog;
    // The names of the Slurm nodes that have a slurmd.
    const std::set<std::string> &with_slurmd;
    // Returns whether a job counts the devices of the claim.
    std::function<Counting(const ResourceClaim &)> counting;
};

// Returns why the Pod has to wait, most likely for another Pod to end, or an
// empty text.
std::string claims_in_use_reason(const Pod &pod, const DeviceNeeds &needs,
                                 const SharingFacts &facts);

// Returns whether Slurm counts devices of this allocated claim: then some job
// has to hold them.
bool counted_by_slurm(const ResourceClaim &claim, const DeviceCatalog &catalog);

// Returns the Slurm node with a slurmd that counts some devices of the
// allocated claim by indexes, or on which we allocated it and whose indexes are
// not known any more; or "".
std::string slurmd_node_of(const ResourceClaim &claim,
                           const DeviceCatalog &catalog,
                           const std::set<std::string> &with_slurmd);

// Returns whether the job of this Pod, and of no other one, has the devices of
// the claim: after a crash of slurmctld it is given a job with them.
bool is_first_consumer(const Pod &pod, const ResourceClaim &claim);

// Returns the names of the users' claims whose devices the job of the Pod
// counts: those that still get some, or of a Pod that lives those that it has
// as the first consumer. A claim that was made for one Pod is not among them,
// because no other Pod may use it.
std::vector<std::string> claims_counted(const Pod &pod,
                                        const DeviceNeeds &needs);

} // namespace bridge
