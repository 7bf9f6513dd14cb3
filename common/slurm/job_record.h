// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's record of a job as our values. For the files that include
// slurm.h.
#pragma once

#include "common/base/result.h"
#include "common/slurm/api.h"
#include "common/slurm/het_job.h"
#include "common/slurm/strings.h"

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

using JobInfo = SlurmPtr<job_info_msg_t, slurm_free_job_info_msg>;

slurm_step_id_t step_of(JobRef job);

// All that slurmctld knows of the job with this id, and of the components that
// it leads: whether one is meant by ref is for the caller to look. Blocks.
Result<JobInfo> load_records(JobRef ref);

// The tag is empty when the admin_comment is not, or no longer, ours.
Job job_of(const slurm_job_info_t &info);

// And to which heterogeneous job it belongs.
JobRecord record_of(const slurm_job_info_t &info);

// What users are told of a job. Asks the system for its user's name. Blocks.
JobDetails details_of(const slurm_job_info_t &info);

// The CPUs of a job on each of its nodes, which its record does not tell.
// Code::busy while these are changing.
Result<> add_cpus_on_nodes(Job &job);

// What stands for the tasks of an array that have no record of their own: they
// wait. It has the array's JobId, as the last task has that starts; after a
// crash of slurmctld it may have the JobId and the SLUID of a task that a Pod
// runs.
bool is_array_rest(const slurm_job_info_t &info);

} // namespace bridge
