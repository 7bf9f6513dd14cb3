// SPDX-License-Identifier: GPL-2.0-or-later
// What a selector finds in the device, and in lists.
#pragma once

#include "agent/cel/value.h"

#include <string>
#include <vector>

namespace bridge {

// of[key], or of.key. Code::rejected, and missing set when it is only not
// there: a domain that the device does not know is empty, an id is missing.
Result<CelValue> cel_member(const Device &device, const CelValue &of,
                            const CelValue &key, bool &missing);

// In order: the domains that there are, or the ids of one.
std::vector<std::string> cel_keys(const Device &device, const CelMap &map);

} // namespace bridge
