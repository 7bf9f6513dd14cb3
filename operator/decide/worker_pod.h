// SPDX-License-Identifier: GPL-2.0-or-later
// The slurmd Pod of a NodeSet, from its template. What the template says wins,
// except for what makes the Pod this NodeSet's, and for the token of the
// ServiceAccount, which no such Pod gets. Pure.
#pragma once

#include "operator/decide/names.h"
#include "operator/decide/objects.h"

#include <string>

namespace bridge::slinky {

// The hash of all that a Pod is made of: the value of its label
// controller-revision-hash.
std::string revision_of(const NodeSet &set, const Controller &controller);

// The labels by which the Pods of a NodeSet are selected: KEY=VALUE,KEY=VALUE.
std::string selector_of(const NodeSet &set);

// Returns the Pod as JSON.
std::string worker_pod(const NodeSet &set, const Controller &controller,
                       const Slot &slot);

// The image of slurmd, or "".
std::string slurmd_image(const NodeSet &set);

} // namespace bridge::slinky
