// SPDX-License-Identifier: GPL-2.0-or-later
// One session of a user: finds the Pod of the job, looks whether it is the
// user's, and passes its log on, or runs a command in its container. The API
// server knows the agent alone; users need no rights in Kubernetes. On the
// session's thread, which blocks.
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
    std::vector<std::string> namespaces; // in which sbatch's Pods are
    uid_t slurm_user = 0;
    bool attach = false; // UserAttach
};

// Until the user, the container or the agent ends it.
SessionEnd serve_session(const JobSessions &sessions, PeerStream &peer,
                         const SessionRequest &request, uid_t caller,
                         const std::stop_token &stop);

// Where the API server has the log of its container.
std::string log_path(const JobPod &pod, bool follow);

} // namespace bridge
