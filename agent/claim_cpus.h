// SPDX-License-Identifier: GPL-2.0-or-later
// How many CPUs a Pod needs of its job whose ResourceClaims have CPU devices, or
// are to have some: see pod_cpus.h. Pure.
#pragma once

#include "agent/device_needs.h"
#include "agent/gang.h"

#include <span>
#include <string>

namespace bridge {

// Where a claim's CPUs are another Pod's, needs.why says so: dra-driver-cpu gives
// them to one container (its docs/user/feature-support.md), so that no other would
// start, and when the Pod that has them ends no job would count them.
void await_cpus(const Pod &pod, const DeviceCatalog &catalog, DeviceNeeds &needs);
// Whether that is so: most likely for as long as that Pod runs.
bool awaits_cpus(const Pod &pod, const DeviceNeeds &needs,
                 const DeviceCatalog &catalog);

// Why these Pods cannot run at the same time: two of them name one claim that has
// CPUs, or asks for some. Empty: none do.
std::string why_not_together(std::span<const PodPtr> pods,
                             const ClaimFacts &facts,
                             const DeviceCatalog &catalog);

// Notes it, and whether the job must go to nodes with such devices; nothing for a
// Pod without them. Those of a claim that several Pods share are the first one's.
void note_cpus(const Pod &pod, const DeviceNeeds &needs,
               const DeviceCatalog &catalog, GangDevices &devices);

// Whether some request of these is for CPU devices that are yet to be chosen.
bool wants_cpus(const DeviceNeeds &needs);

} // namespace bridge
