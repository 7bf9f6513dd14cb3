// SPDX-License-Identifier: GPL-2.0-or-later
// What the Pods of a batch job need beside themselves: the ConfigMap with srun,
// which serves all jobs of a namespace, and, of several nodes, the Service by
// which their names resolve. Blocking, on a worker, and safe to repeat. A job
// whose namespace has neither runs, too, and says so where srun is called.
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
    std::string path{}; // of the program; nothing may be there
    bool may = true;    // we have the rights
    // kubernetes.io/arch of Slurm's nodes, by name; null: of none.
    std::shared_ptr<const std::map<std::string, std::string>> architectures{};
    Clock::time_point now{};
};

// What a Pod gets.
struct SrunOffer {
    std::string config_map{}; // with the program; empty: there is none
    std::string why_not{};    // then, for the job's user
};

// For the Pods in that namespace of a job of one node, or of several. Makes the
// ConfigMap where it is missing. An error is the API server's, a refusal among
// them, or of the disk, and has to do with all jobs.
Result<SrunOffer> offer_srun(const std::string &ns, bool several, Kube &kube,
                             const SrunContext &context, SrunMaps &maps);

// The same for the Pod on that node of Slurm: none where another architecture
// is. Code::busy where nobody knows yet which it has, unless settled.
Result<SrunOffer> offer_on(const SrunOffer &offer, const std::string &node,
                           const SrunContext &context, bool settled);

// Kubernetes has said something of that node of Slurm, be it no architecture.
bool is_listed(const std::string &node, const SrunContext &context);

// The Service of the job with that first Pod, which goes with that worker.
// Where another has its name: Code::conflict for one that Kubernetes removes,
// of a worker that is gone; else busy, rejected if settled. Other errors are
// the API server's.
Result<> make_batch_service(const Pod &first, const Pod &worker, Kube &kube,
                            bool settled);

} // namespace bridge
