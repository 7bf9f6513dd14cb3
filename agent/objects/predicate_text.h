// SPDX-License-Identifier: GPL-2.0-or-later
// A predicate as text, which is the same for two that select alike: its feature
// is the text's hash. Pure.
#pragma once

#include "agent/objects/predicate.h"

#include <string>
#include <vector>

namespace bridge {

// Of selectors that are normalized, and sorted tolerations. Empty for none of
// either.
std::string predicate_text(const std::vector<NodeSelector> &selectors,
                           const std::vector<Toleration> &tolerations);

} // namespace bridge
