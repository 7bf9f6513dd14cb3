// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the Pods of a batch job, or finds those that an earlier try has made:
// their names follow from the job and the node. Blocking, on a worker, and safe
// to repeat at whatever point it was cut off.
#pragma once

#include "agent/batch/make.h"
#include "agent/batch/pod.h"
#include "agent/gang/batch_place.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge {

// What is said of the Namespace, of our rights there, or by libslurm, is for
// the administrator: no job fails of it.
template <class T> Result<T> not_jobs_fault(Result<T> answer)
{
    if (!answer && (answer.error().code == Code::not_found ||
                    answer.error().code == Code::rejected ||
                    answer.error().code == Code::denied))
        answer.error().code = Code::busy;
    return answer;
}

// It has, or had, a node: nobody makes it again.
bool has_run(const Pod &pod);

// What Pods of a job are made of.
struct BatchParts {
    const BatchJob &batch;
    const BatchScript &script;
    const BatchUser &user;
    const BatchMark &mark;
    const std::vector<BatchJob> &components; // as load_components() has them
    SrunOffer srun{};
};

// srun for that node of the job. Code::busy as of offer_on(). A job of one node
// does not wait for a label that its Node lacks.
Result<SrunOffer> srun_on(const BatchParts &parts, std::uint32_t rank,
                          const BatchContext &context);

// The Pod of that node of the job. first: as place_on() has it. Errors as of
// make_batch_pod(); Code::busy also where one was made before slurmctld, after
// a crash, has placed the job elsewhere, or with another srun by an earlier
// agent: that one is deleted.
Result<Pod> make_pod_on(const BatchParts &parts, std::uint32_t rank,
                        const std::string &first, Kube &kube,
                        const BatchContext &context);

// The workers of a job of several nodes with that first Pod, and the Service.
// True: one of them is bound, so that all of it was there before. Errors
// likewise.
Result<bool> make_others(const BatchParts &parts, const Pod &first, Kube &kube,
                         const BatchContext &context);

// A job whose script is gone may have run: which namespace it chose is not
// known any more. Code::not_found: no such Pod has run.
Result<Pod> find_run_pod(const BatchMark &mark, Kube &kube,
                         const BatchContext &context);

} // namespace bridge
