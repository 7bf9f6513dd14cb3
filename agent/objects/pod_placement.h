// SPDX-License-Identifier: GPL-2.0-or-later
// Where a Pod may run, and where it would rather, read from its spec. Pure.
#pragma once

#include "agent/objects/predicate.h"
#include "common/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct PodPlacement {
    PredicatePtr required;
    // The same, and of its preferred node affinity the term of the highest
    // weight too, the first of several: Slurm knows one preference. Null: it
    // has none.
    PredicatePtr preferred;
    // Sentences for its owner: what is too long, or an operator that is none.
    std::vector<std::string> objections;
};

PodPlacement pod_placement(const Json &pod);

// A NodeSelector of the API: {"nodeSelectorTerms": […]}. Nothing when one of
// its operators is unknown to us.
std::optional<NodeSelector> node_selector(const Json &selector);

} // namespace bridge
