// SPDX-License-Identifier: GPL-2.0-or-later
// Why the container of a batch job's Pod is not started, as its kubelet says.
// Pure.
#pragma once

#include "common/base/json.h"

#include <string>

namespace bridge {

// Of a Pod as the API server has it; empty: nothing odd, or nothing is said.
// Nearly every Pod says so for a moment: it counts when it goes on saying so.
std::string why_not_started(const Json &pod);

} // namespace bridge
