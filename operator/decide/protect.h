// SPDX-License-Identifier: GPL-2.0-or-later
// The PodDisruptionBudget of a cluster's slurmd Pods: as long as the agent's
// label says that a node has jobs, nobody evicts its Pod. One for all NodeSets
// of a Controller, under the name that slurm-operator gives it, since the API
// server evicts no Pod that two budgets select. Pure.
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <vector>

namespace bridge::slinky {

// What makes it as it should be; nothing if it is, or if no NodeSet is there.
std::vector<Step> protect_workers(const Known &known,
                                  const Controller &controller);

} // namespace bridge::slinky
