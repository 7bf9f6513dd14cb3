// SPDX-License-Identifier: GPL-2.0-or-later
// One session of a user: finds the Pod of the job, checks that it belongs to
// the user, and forwards its log or runs a command in its container. Only the
// agent talks to the API server; users need no rights in Kubernetes. Runs on
// the session's own thread, and blocks.
#pragma once

#include "agent/session/job_pod.h"
#include "agent/session/peer_stream.h"
#include "common/contract/session_request.h"
#include "common/kube/http.h"

#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bridge {

struct JobSessions {
    HttpEndpoint endpoint;
    std::vector<std::string> namespaces; // namespaces of sbatch's Pods
    uid_t slurm_user = 0;
    bool attach = false; // UserAttach in k8s.conf
};

// Serves the request until the user, the container or the agent ends it.
// Returns the exit code, or the reason why the request was refused.
SessionEnd serve_session(const JobSessions &sessions, PeerStream &peer,
                         const SessionRequest &request, uid_t caller,
                         const std::stop_token &stop);

// Returns the path of the container's log at the API server.
std::string log_path(const JobPod &pod, bool follow);

} // namespace bridge
