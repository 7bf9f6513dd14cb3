// SPDX-License-Identifier: GPL-2.0-or-later
// The Nodes on which a Pod may run, and those that it prefers, read from its
// spec. Pure.
#pragma once

#include "agent/objects/predicate.h"
#include "common/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct PodPlacement {
    PredicatePtr required;
    // Requires the same, and in addition the preferred node affinity term of
    // the highest weight (the first of several), since Slurm supports one
    // preference. Null if the Pod has no preference.
    PredicatePtr preferred;
    // Reasons for the Pod's owner: the selection is too long, or an operator is
    // unknown.
    std::vector<std::string> unfit_reasons;
};

PodPlacement pod_placement(const Json &pod);

// Reads a NodeSelector of the API: {"nodeSelectorTerms": […]}. Returns nothing
// if one of its operators is unknown.
std::optional<NodeSelector> node_selector(const Json &selector);

} // namespace bridge
