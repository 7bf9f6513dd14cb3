// SPDX-License-Identifier: GPL-2.0-or-later
// Allocated ResourceClaims that one Pod has at a time: no job would count their
// devices for the next one, or once the first has ended. Pure.
//
//   its devices are               since
//   ----------------------------  ---------------------------------------------
//   CPUs                          dra-driver-cpu gives them to one container
//                                 (its docs/user/feature-support.md)
//   GRES of a node with a slurmd  ordinary jobs would get what Slurm believes
//                                 free; of other nodes Pods alone get devices,
//                                 and the agent sees what is taken
#pragma once

#include "agent/gres/needs.h"

#include <set>
#include <string>

namespace bridge {

// Why the Pod has to wait for another one to end, most likely; empty: it has
// not. with_slurmd: Slurm's names of such nodes.
std::string why_of_others(const Pod &pod, const DeviceNeeds &needs,
                          const DeviceCatalog &catalog,
                          const std::set<std::string> &with_slurmd);

} // namespace bridge
