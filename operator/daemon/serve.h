// SPDX-License-Identifier: GPL-2.0-or-later
// Wires the operator's threads together and handles its signals, from start to
// stop.
#pragma once

#include "common/base/result.h"
#include "common/kube/http.h"
#include "operator/daemon/options.h"

namespace bridge::slinky {

// Serves until SIGTERM or SIGINT, or until another operator has the Lease. To
// be called once in a process, from its first thread. Returns the exit code of
// slurmk8s-operator(8), or why it cannot start.
Result<int> serve(const Options &options, HttpEndpoint endpoint);

} // namespace bridge::slinky
