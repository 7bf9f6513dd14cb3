// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a command in a container, like `kubectl exec`: with the subprotocol
// v5.channel.k8s.io, in which the first byte of each message is its channel
// (apimachinery, pkg/util/remotecommand/constants.go). The container runtime
// starts the command as the container's user, with the container's environment.
#pragma once

#include "agent/session/job_pod.h"
#include "agent/session/peer_stream.h"
#include "common/contract/session_request.h"
#include "common/kube/http.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

// Returns the path at the API server, with the command in the query.
std::string exec_path(const JobPod &pod, const SessionRequest &request);

// Reads the last message, a Status: returns the exit code, or why the command
// did not run.
SessionEnd exec_end(std::string_view status);

// Runs the command and forwards data both ways until one side ends it. Blocks.
SessionEnd run_in_container(const HttpEndpoint &endpoint, const JobPod &pod,
                            const SessionRequest &request, PeerStream &peer,
                            const std::stop_token &stop);

} // namespace bridge
