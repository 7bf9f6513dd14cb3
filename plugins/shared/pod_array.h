// SPDX-License-Identifier: GPL-2.0-or-later
// Job arrays of sbatch whose tasks run as Pods. An external job has no script,
// but slurmctld refuses an array without a script. job_submit/k8s can therefore
// not make an external job of it at once:
//
//    job_submit/k8s    removes the script, as for any batch job, and leaves
//                      array_stub in its place
//    slurmctld         checks --array (_valid_array_inx() in job_mgr.c), and
//                      that an external job has no script
//    burst_buffer/k8s  makes it an external job and removes the stub:
//                      bb_p_job_validate() is the last function that gets the
//                      description
//    slurmctld         creates the job's record from the description
//
// After that it is an array like any other: slurmctld splits and throttles it,
// and each task has its own JobId, state and exit code. Pure.
#pragma once

#include <string_view>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// Would run on a slurmd if nothing removed it.
extern const char array_stub[];

// Tells whether Slurm's BurstBufferType is burst_buffer/k8s. If it is,
// slurmctld does not start without that plugin.
bool makes_pod_arrays(std::string_view burst_buffer_type);

// Tells whether job_submit/k8s has prepared this array, and nobody has changed
// it since.
bool is_pod_array(const job_desc_msg_t &desc);

} // namespace bridge
