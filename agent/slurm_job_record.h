// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's record of a job as our values. For the files that include slurm.h.
#pragma once

#include "agent/job.h"

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

slurm_step_id_t step_of(JobRef job);

// The tag is empty when the admin_comment is not, or no longer, ours.
Job job_of(const slurm_job_info_t &info);

} // namespace bridge
