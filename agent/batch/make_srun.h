// SPDX-License-Identifier: GPL-2.0-or-later
// What the Pods of a batch job need in addition: the ConfigMap with srun, one
// for all jobs of a namespace, and, for a job of several nodes, the Service
// that resolves the Pods' names. The functions block, run on a worker thread,
// and are safe to repeat. A job without these objects runs as well; calling
// srun in it then prints the reason.
#pragma once

#include "agent/batch/srun_maps.h"
#include "agent/calls/kube_api.h"
#include "common/base/result.h"

#include <map>
#include <memory>
#include <string>

namespace bridge {

// What the agent knows when a job gets its Pods.
struct SrunContext {
    std::string path{}; // path of the program; it may not exist
    bool may = true;    // the agent has the rights
    // The label kubernetes.io/arch of the Nodes, by the name of the Slurm node;
    // null if nothing is known.
    std::shared_ptr<const std::map<std::string, std::string>> architectures{};
    Clock::time_point now{};
};

// How srun is provided to a Pod.
struct SrunOffer {
    std::string config_map{}; // has the program; empty: there is no srun
    std::string reason{};     // the reason for that, for the job's user
};

// Returns how srun is provided in that namespace to the Pods of a job of one
// node or of several. Creates the ConfigMap if it is missing. An error comes
// from the API server, which may have refused the request, or from reading the
// program, and concerns all jobs.
Result<SrunOffer> offer_srun(const std::string &ns, bool several, Kube &kube,
                             const SrunContext &context, SrunMaps &maps);

// Restricts the offer to the Pod on that Slurm node: no srun is offered if the
// node has another architecture than the program. Code::busy while the
// architecture is not known, unless settled.
Result<SrunOffer> offer_on(const SrunOffer &offer, const std::string &node,
                           const SrunContext &context, bool settled);

// Returns whether a Kubernetes Node is known for that Slurm node, even one
// without an architecture label.
bool is_listed(const std::string &node, const SrunContext &context);

// Creates the Service of the job whose script runs in the Pod first; the worker
// owns it. When another Service has its name: Code::conflict if Kubernetes is
// about to remove that one because its worker is gone; otherwise Code::busy, or
// Code::rejected if settled. Other errors are those of the API server.
Result<> make_batch_service(const Pod &first, const Pod &worker, Kube &kube,
                            bool settled);

} // namespace bridge
