// SPDX-License-Identifier: GPL-2.0-or-later
// The ConfigMap with srun, which serves all Pods of a namespace and may be
// deleted at any time. The functions block, run on a worker thread, and are
// safe to repeat.
#pragma once

#include "agent/batch/srun_maps.h"
#include "agent/calls/kube_api.h"
#include "common/base/result.h"

#include <string>

namespace bridge {

// Returns whether a policy, a quota or RBAC refused the request. That may pass:
// rights can arrive late while a cluster is set up, and an API server that is
// starting refuses what it does not know yet.
bool is_refusal(const Error &error);

// Ensures that the ConfigMap exists and has that program. Returns true if it
// was missing and has been created. Its whole content is read once; after that,
// only its metadata is read to see that it is still the same immutable object.
// Code::denied when it has another content. Other errors are those of the API
// server.
Result<bool> restore_srun_map_if_gone(const std::string &ns,
                                      const SrunProgram &program, Kube &kube,
                                      SrunMaps &maps, const SrunLook &look);

// Creates the ConfigMap again for a Pod that was made with srun and waits on
// its node, because the kubelet starts no container without it. path is the
// path of the program. Does nothing when the Pod was made with another srun.
// Returns true if the ConfigMap was created. Errors as for
// restore_srun_map_if_gone() and read_srun().
Result<bool> restore_srun_map(const Pod &pod, const std::string &path,
                              Kube &kube, SrunMaps &maps,
                              Clock::time_point now);

} // namespace bridge
