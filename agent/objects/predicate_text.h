// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a predicate to its canonical text. Predicates that select alike have
// the same text; the feature is a hash of it. Pure.
#pragma once

#include "agent/objects/predicate.h"

#include <string>
#include <vector>

namespace bridge {

// The selectors must be normalized and the tolerations sorted. Returns an empty
// text if there are neither.
std::string predicate_text(const std::vector<NodeSelector> &selectors,
                           const std::vector<Toleration> &tolerations);

} // namespace bridge
