// SPDX-License-Identifier: GPL-2.0-or-later
// Wires the agent's threads together and handles its signals, from start to
// stop.
#pragma once

#include "agent/daemon/own_conf.h"
#include "common/base/result.h"
#include "common/contract/conf.h"
#include "common/contract/session_conf.h"
#include "common/kube/http.h"

#include <functional>
#include <memory>

namespace bridge {

// Returns the configuration as the file has it now. Called on the signal
// thread.
using LoadConf = std::function<Result<Conf>()>;

// The exit code when k8s.conf has changed: a new process is to serve.
inline constexpr int exit_anew = 4;

// Serves until SIGTERM or SIGINT, until another agent has the Lease, or until
// k8s.conf has changed; SIGHUP reloads the configuration. own: nullptr, if
// changes of k8s.conf are not to be followed without SIGHUP. To be called once
// in a process, from its first thread, before there are others. Returns the
// exit code of slurmk8sd(8), or why it cannot start.
Result<int> serve(std::shared_ptr<const Conf> conf, const SessionConf &sessions,
                  HttpEndpoint endpoint, const LoadConf &load, OwnConf *own);

} // namespace bridge
