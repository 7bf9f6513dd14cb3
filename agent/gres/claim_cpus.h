// SPDX-License-Identifier: GPL-2.0-or-later
// How many CPUs a Pod needs of its job whose ResourceClaims have CPU devices,
// or are to have some: see agent/objects/pod_cpus.h. Pure.
#pragma once

#include "agent/gres/gang_devices.h"
#include "agent/gres/needs.h"
#include "agent/objects/objects.h"

#include <span>
#include <string>

namespace bridge {

// Whether some of its devices are CPUs. It is allocated.
bool has_cpus(const ResourceClaim &claim, const DeviceCatalog &catalog);

// Why these Pods cannot run at the same time: two of them name one claim that
// has CPUs, or asks for some. Empty: none do.
std::string why_not_together(std::span<const PodPtr> pods,
                             const ClaimFacts &facts,
                             const DeviceCatalog &catalog);

// Notes it, and whether the job must go to nodes with such devices; nothing for
// a Pod without them. Those of a claim that several Pods share are the first
// one's.
void note_cpus(const Pod &pod, const DeviceNeeds &needs,
               const DeviceCatalog &catalog, GangDevices &devices);

// Whether some request of these is for CPU devices that are yet to be chosen.
bool wants_cpus(const DeviceNeeds &needs);

} // namespace bridge
