// SPDX-License-Identifier: GPL-2.0-or-later
// What a Pod's spec requires that the agent does not support yet. The admission
// policies in contribs/kubernetes already refuse much of it where they are
// installed. Pure.
#pragma once

#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

// Returns the reasons for the Pod's owner. An empty list means that the Pod can
// be placed.
std::vector<std::string> unsupported_spec_reasons(const Json &pod);

} // namespace bridge
