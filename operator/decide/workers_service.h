// SPDX-License-Identifier: GPL-2.0-or-later
// What all slurmd Pods of a Controller share, wherever its slurmctld runs:
// names in the cluster's DNS, and protection. Pure.
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <vector>

namespace bridge::slinky {

// What makes the headless Service and the PodDisruptionBudget as they should
// be; nothing if they are, or if the Controller has no NodeSet.
std::vector<Step> serve_workers(const Known &known,
                                const Controller &controller);

} // namespace bridge::slinky
