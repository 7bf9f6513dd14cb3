// SPDX-License-Identifier: GPL-2.0-or-later
// The ConfigMap with srun, which serves all Pods of a namespace and may be gone
// at any time. Blocking, on a worker, and safe to repeat.
#pragma once

#include "agent/batch/srun_maps.h"
#include "agent/calls/kube_api.h"
#include "common/base/result.h"

#include <string>

namespace bridge {

// By the policies, a quota or RBAC. It may pass: rights come a moment late
// where a cluster is set up, and an API server that starts refuses what it does
// not know.
bool is_refusal(const Error &error);

// Success: it is there, and has that program; true: it was missing. All of it
// is read once; after that its metadata says whether it is still the same
// object, which never changes. Code::denied where it has something else. Other
// errors are the API server's.
Result<bool> look_after_srun_map(const std::string &ns,
                                 const SrunProgram &program, Kube &kube,
                                 SrunMaps &maps, const SrunLook &look);

// For a Pod that was made with srun and waits on its node, whose kubelet starts
// nothing without it. path: of the program. Where the Pod was made with another
// one there is nothing to be done. Errors also as of read_srun().
Result<bool> restore_srun_map(const Pod &pod, const std::string &path,
                              Kube &kube, SrunMaps &maps,
                              Clock::time_point now);

} // namespace bridge
