// SPDX-License-Identifier: GPL-2.0-or-later
// What a Pod's spec asks that we cannot honour yet. The admission policies in
// contribs/kubernetes refuse much of it already, where they are installed.
// Pure.
#pragma once

#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

// Sentences for the Pod's owner; none: we can place it.
std::vector<std::string> spec_objections(const Json &pod);

} // namespace bridge
