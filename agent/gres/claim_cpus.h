// SPDX-License-Identifier: GPL-2.0-or-later
// How many CPUs a Pod needs from its job if its ResourceClaims have, or are to
// get, CPU devices: see agent/objects/pod_cpus.h. Pure.
#pragma once

#include "agent/gres/gang_devices.h"
#include "agent/gres/needs.h"
#include "agent/objects/objects.h"

#include <set>
#include <span>
#include <string>

namespace bridge {

// Returns true if some devices of the claim are CPUs. The claim must be
// allocated.
bool has_cpus(const ResourceClaim &claim, const DeviceCatalog &catalog);

// Returns why these Pods cannot run at the same time, or an empty text: two of
// them name one claim that has or requests CPUs, or that has devices of one of
// the Slurm nodes with a slurmd.
std::string not_together_reason(std::span<const PodPtr> pods,
                                const ClaimFacts &facts,
                                const DeviceCatalog &catalog,
                                const std::set<std::string> &with_slurmd);

// Adds to devices the CPUs that the Pod needs, and whether the job must go to
// nodes with CPU devices. Does nothing for a Pod without such claims. The CPUs
// of a claim that several Pods share count for its first consumer.
void record_cpus(const Pod &pod, const DeviceNeeds &needs,
                 const DeviceCatalog &catalog, GangDevices &devices);

// Returns true if a request still has to get single CPU devices.
bool wants_cpus(const DeviceNeeds &needs);

} // namespace bridge
