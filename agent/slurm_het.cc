// SPDX-License-Identifier: GPL-2.0-or-later
// What SlurmApi does for heterogeneous jobs alone.
#include "agent/slurm_api.h"
#include "agent/slurm_error.h"
#include "agent/slurm_request.h"
#include "agent/slurm_strings.h"

#include <cerrno>
#include <deque>
#include <memory>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

using RequestList = SlurmPtr<list_t, slurm_list_destroy>;
using SubmitResponse =
    SlurmPtr<submit_response_msg_t, slurm_free_submit_response_response_msg>;

} // namespace

// slurmctld takes all of them in one locked section, or none.
Result<JobRef>
SlurmApi::submit_het(const std::vector<JobDescription> &components)
{
    std::deque<SubmitRequest> requests; // which cannot be moved
    RequestList list(slurm_list_create(nullptr));
    for (const JobDescription &component : components)
        slurm_list_append(list.get(),
                          &requests.emplace_back(component).message);
    submit_response_msg_t *raw = nullptr;
    int rc = slurm_submit_batch_het_job(list.get(), &raw);
    int error = errno;
    SubmitResponse response(raw);
    if (rc != SLURM_SUCCESS)
        return fail_slurm(error, "submit");
    if (!response)
        return fail(Code::uncertain, "submit: an answer without a JobId");
    return JobRef{response->step_id.job_id, Sluid{response->step_id.sluid}};
}

} // namespace bridge
