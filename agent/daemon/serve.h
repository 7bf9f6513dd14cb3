// SPDX-License-Identifier: GPL-2.0-or-later
// The wiring of the agent's threads, and its signals, from start to stop.
#pragma once

#include "common/base/result.h"
#include "common/contract/conf.h"
#include "common/contract/session_conf.h"
#include "common/kube/http.h"

#include <functional>
#include <memory>

namespace bridge {

// The configuration as its file is now; called on a thread of the signals.
using LoadConf = std::function<Result<Conf>()>;

// Serves until SIGTERM or SIGINT, or until another agent has the Lease; SIGHUP
// loads the configuration. Once in a process, from its first thread, before it
// has others. The exit code of slurmk8sd(8), or why it cannot start.
Result<int> serve(std::shared_ptr<const Conf> conf, const SessionConf &sessions,
                  HttpEndpoint endpoint, const LoadConf &load);

} // namespace bridge
