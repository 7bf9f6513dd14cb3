// SPDX-License-Identifier: GPL-2.0-or-later
// A command in a container, as `kubectl exec` does it: the subprotocol
// v5.channel.k8s.io, in which the first byte of each message is its channel
// (apimachinery, pkg/util/remotecommand/constants.go). The container's runtime
// starts it, as the container's user, with the container's environment.
#pragma once

#include "agent/session/job_pod.h"
#include "agent/session/peer_stream.h"
#include "common/contract/session_request.h"
#include "common/kube/http.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

// Where the API server takes it, with the command in the query.
std::string exec_path(const JobPod &pod, const SessionRequest &request);

// What the last message, a Status, says: an exit code, or why it did not run.
SessionEnd exec_end(std::string_view status);

// Passes on what comes from both sides until one of them ends it.
SessionEnd run_in_container(const HttpEndpoint &endpoint, const JobPod &pod,
                            const SessionRequest &request, PeerStream &peer,
                            const std::stop_token &stop);

} // namespace bridge
