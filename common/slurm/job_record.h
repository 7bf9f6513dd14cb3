// SPDX-License-Identifier: GPL-2.0-or-later
// Converts slurmctld's record of a job to our values. For files that include
// slurm.h.
#pragma once

#include "common/base/result.h"
#include "common/slurm/api.h"
#include "common/slurm/het_job.h"
#include "common/slurm/queue_wants.h"
#include "common/slurm/strings.h"

#include <cstdint>
#include <ctime>
#include <optional>
#include <span>

extern "C" {
#include <slurm/slurm.h>

// Exported by libslurm under this name, and missing in slurm.h.
const char *slurm_job_state_reason_string(int reason);
}

namespace bridge {

using JobInfo = SlurmPtr<job_info_msg_t, slurm_free_job_info_msg>;

slurm_step_id_t step_of(JobRef job);

// Returns all records that slurmctld has for this JobId, including those of the
// components that it leads. The caller must check which of them is meant by
// ref. Blocks for one RPC. Codes as in api.h.
Result<JobInfo> load_records(JobRef ref);

// Returns the records of all jobs that slurmctld knows, or nothing if none has
// changed since as_of, by slurmctld's clock; 0: in any case. what: for the
// message of an error. Blocks for one RPC. Codes as in api.h.
Result<std::optional<JobInfo>> load_records_since(std::int64_t as_of,
                                                  const char *what);
Result<JobInfo> load_all_records(const char *what);

inline std::span<const slurm_job_info_t> jobs_in(const job_info_msg_t &info)
{
    return {info.job_array, info.record_count};
}

// The tag is empty if the admin_comment is not ours, or has been changed.
Job job_of(const slurm_job_info_t &info);

// Whether nothing but nodes can keep this pending job from starting: it depends
// on no other job, and may have begun by then. As it is submitted a job has the
// reason that it lacks nodes for a moment, whatever it waits for.
bool is_eligible(const slurm_job_info_t &info, std::time_t now);

// Says which of these jobs would start if there were more nodes.
QueueWants queue_wants_of(const job_info_msg_t &info);
// The texts are those of the record, which must live as long. It has no reason
// if the job is not eligible.
QueuedJob queued_job_of(const slurm_job_info_t &info, std::time_t now);

// Also returns to which heterogeneous job it belongs.
JobRecord record_of(const slurm_job_info_t &info);

// Returns what users are told about a job. Blocks: looks up the user's name in
// the system.
JobDetails details_of(const slurm_job_info_t &info);

// Adds the CPUs on each node, which the job's record does not contain. Blocks
// for one RPC. Code::busy while the nodes of the job change.
Result<> add_cpus_on_nodes(Job &job);

// Tells whether this is the record for all waiting tasks of an array that have
// no record of their own. Its JobId is the array's, which the last task to
// start keeps; after a crash of slurmctld it may have the JobId and the SLUID
// of a task that a Pod runs.
bool is_array_rest(const slurm_job_info_t &info);

// Returns what it needs and has of nodes. What it excludes is an entry of its
// own, as of a job that is over: it keeps no node in Slurm.
std::vector<NodeUse> uses_of(const slurm_job_info_t &info);

// Whether it has nodes: also if it is suspended, or has ended and its nodes are
// not free again yet.
bool holds_nodes(const slurm_job_info_t &info);

} // namespace bridge
