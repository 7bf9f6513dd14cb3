// SPDX-License-Identifier: GPL-2.0-or-later
// Converts slurmctld's record of a job that waits to what it asks for. For
// files that include slurm.h.
#pragma once

#include "common/slurm/job_queue.h"

#include <cstdint>
#include <map>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// How many tasks of each job array have nodes, by the JobId of the array.
using RunningTasks = std::map<std::uint32_t, std::uint32_t>;
RunningTasks running_tasks(const job_info_msg_t &info);

// slurmctld reports a range of nodes (-N2-16) as its last estimate of how many
// the job will get, so that nodes may be more than the fewest.
WaitingJob waiting_job(const slurm_job_info_t &info,
                       const RunningTasks &running);

} // namespace bridge
