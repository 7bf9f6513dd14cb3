// SPDX-License-Identifier: GPL-2.0-or-later
// Allocated ResourceClaims that only one Pod at a time can use: no job would
// count their devices for a second Pod, or after the first has ended. Pure.
//
//   its devices are               reason
//   ----------------------------  ---------------------------------------------
//   CPUs                          dra-driver-cpu gives them to one container
//                                 (its docs/user/feature-support.md)
//   GRES of a node with a slurmd  ordinary jobs would get what Slurm believes
//                                 is free; on other nodes only Pods get
//                                 devices, and the agent sees what is taken
#pragma once

#include "agent/gres/needs.h"

#include <set>
#include <string>

namespace bridge {

// Returns why the Pod has to wait, most likely for another Pod to end, or an
// empty text. with_slurmd: the names of the Slurm nodes that have a slurmd.
std::string claims_in_use_reason(const Pod &pod, const DeviceNeeds &needs,
                                 const DeviceCatalog &catalog,
                                 const std::set<std::string> &with_slurmd);

} // namespace bridge
