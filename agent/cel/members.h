// SPDX-License-Identifier: GPL-2.0-or-later
// Looks up members of the device, and items of lists. Pure.
#pragma once

#include "agent/cel/value.h"

#include <string>
#include <vector>

namespace bridge {

// Returns of[key], or of.key. Returns Code::rejected if there is no such
// member, and sets missing if that is the only problem: a domain that the
// device does not have is empty, an id is missing.
Result<CelValue> cel_member(const Device &device, const CelValue &of,
                            const CelValue &key, bool &missing);

// Returns, in order, the domains of the device, or the ids of one domain.
std::vector<std::string> cel_keys(const Device &device, const CelMap &map);

} // namespace bridge
