// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld answers to a submit. For the files that include slurm.h.
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

// The job that call(&answer), which returns Slurm's code, has made.
// Code::uncertain when it may have made one.
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
    // error_code in an accepted job's response is only a note.
    return JobRef{response->step_id.job_id, Sluid{response->step_id.sluid}};
}

} // namespace bridge
