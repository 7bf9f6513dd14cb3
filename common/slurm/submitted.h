// SPDX-License-Identifier: GPL-2.0-or-later
// Evaluates slurmctld's answer to the submission of a job. For files that
// include slurm.h.
#pragma once

#include "common/contract/job_ref.h"
#include "common/slurm/error.h"
#include "common/slurm/strings.h"

#include <cerrno>
#include <string>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

// Returns the job that call(&answer) has submitted; call returns Slurm's code.
// Code::uncertain if a job may exist; other Codes as in api.h.
template <class Call>
Result<JobRef> submitted_job(const std::string &doing, const Call &call)
{
    submit_response_msg_t *raw = nullptr;
    int rc = call(&raw);
    int error = errno;
    SlurmPtr<submit_response_msg_t, slurm_free_submit_response_response_msg>
        response(raw);
    if (rc != SLURM_SUCCESS)
        return fail_slurm(error, doing);
    if (!response)
        return fail(Code::uncertain, "submit: an answer without a JobId");
    // The error_code in the response of an accepted job is only informational.
    return JobRef{response->step_id.job_id, Sluid{response->step_id.sluid}};
}

} // namespace bridge
