// SPDX-License-Identifier: GPL-2.0-or-later
// A job array of sbatch whose tasks run as Pods, on its way through slurmctld.
// An external job has no script, and slurmctld takes an array without a script
// for a mistake, so job_submit/k8s cannot make an external job of it at once:
//
//   job_submit/k8s    takes the script away, as of any batch job, and leaves
//                     array_stub in its place
//   slurmctld         looks at --array (_valid_array_inx() in job_mgr.c), and
//                     whether an external job has a script
//   burst_buffer/k8s  makes it an external job without one: bb_p_job_validate()
//                     is the last call that gets the description
//   slurmctld         makes the job's record of the description
//
// From there on it is an array like others: slurmctld splits it, throttles it,
// and each task has its JobId, state and exit code. Pure.
#pragma once

#include <string_view>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// What would run on a node's slurmd if nothing took it away again.
extern const char array_stub[];

// Slurm's BurstBufferType names burst_buffer/k8s, without which slurmctld then
// does not start.
bool makes_pod_arrays(std::string_view burst_buffer_type);

// It is one that job_submit/k8s has taken, and nobody has touched since.
bool is_pod_array(const job_desc_msg_t &desc);

} // namespace bridge
