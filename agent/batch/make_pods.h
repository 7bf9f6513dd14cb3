// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the Pods of a batch job, or finds those that an earlier attempt made:
// their names follow from the job and the node. The functions block, run on a
// worker thread, and are safe to repeat wherever they were interrupted.
#pragma once

#include "agent/batch/make.h"
#include "agent/batch/pod.h"
#include "agent/gang/batch_place.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge {

// Errors about the Namespace, about our rights there, or from libslurm are for
// the administrator and must not fail a job: they become Code::busy.
template <class T> Result<T> not_jobs_fault(Result<T> answer)
{
    if (!answer && (answer.error().code == Code::not_found ||
                    answer.error().code == Code::rejected ||
                    answer.error().code == Code::denied))
        answer.error().code = Code::busy;
    return answer;
}

// Returns whether the Pod has, or had, a node. Such a Pod is never made again.
bool has_run(const Pod &pod);

// What the Pods of a job are made from.
struct BatchParts {
    const BatchJob &batch;
    const BatchScript &script;
    const BatchUser &user;
    const BatchMark &mark;
    const std::vector<BatchJob> &components; // see load_components()
    SrunOffer srun{};
};

// Returns how srun is provided on the node of that rank. Code::busy as for
// offer_on(). A job with a single node does not wait for an architecture label
// that its Node lacks.
Result<SrunOffer> srun_on(const BatchParts &parts, std::uint32_t rank,
                          const BatchContext &context);

// Makes or finds the Pod for the node of that rank. first: as for place_on().
// Errors as for make_batch_pod(). Code::busy also when a Pod was made before
// slurmctld, after a crash, placed the job elsewhere, or when an earlier agent
// made it with another srun; that Pod is then deleted.
Result<Pod> make_pod_on(const BatchParts &parts, std::uint32_t rank,
                        const std::string &first, Kube &kube,
                        const BatchContext &context);

// Makes the workers of a job of several nodes, whose script runs in the Pod
// first, and the Service. Returns true when one of the workers is bound, which
// means that everything existed before. Errors as for make_pod_on().
Result<bool> make_others(const BatchParts &parts, const Pod &first, Kube &kube,
                         const BatchContext &context);

// Finds the Pod of a job whose script file is gone and which may have run. All
// namespaces for batch jobs are searched, since it is no longer known which one
// the job chose. Code::not_found: no such Pod has run.
Result<Pod> find_run_pod(const BatchMark &mark, Kube &kube,
                         const BatchContext &context);

} // namespace bridge
