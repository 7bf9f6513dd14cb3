// SPDX-License-Identifier: GPL-2.0-or-later
// Why the container of a batch job's Pod does not start, according to its
// kubelet. Pure.
#pragma once

#include "common/base/json.h"

#include <string>

namespace bridge {

// Reads the JSON of a Pod. Returns an empty text if nothing is wrong or the
// kubelet says nothing. Nearly every Pod reports a reason for a moment; it
// matters only if it persists.
std::string not_started_reason(const Json &pod);

} // namespace bridge
