// SPDX-License-Identifier: GPL-2.0-or-later
// What SlurmApi does for sbatch's jobs alone.
#include "agent/slurm_api.h"
#include "agent/slurm_error.h"
#include "agent/slurm_job_record.h"
#include "agent/slurm_strings.h"
#include "agent/tres_memory.h"

#include <cerrno>

extern "C" {
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

using JobInfo = SlurmPtr<job_info_msg_t, slurm_free_job_info_msg>;

BatchJob batch_of(const slurm_job_info_t &info)
{
    BatchJob batch;
    batch.job = job_of(info);
    batch.says_memory = info.pn_min_memory != 0;
    batch.user_id = info.user_id;
    batch.group_id = info.group_id;
    batch.name = text(info.name);
    batch.partition = text(info.partition);
    batch.account = text(info.account);
    batch.qos = text(info.qos);
    batch.reservation = text(info.resv_name);
    if (info.time_limit != NO_VAL)
        batch.time_limit = info.time_limit == INFINITE ? 0 : info.time_limit;
    if (info.ntasks_per_node != NO_VAL16)
        batch.tasks_per_node = info.ntasks_per_node;
    batch.hostlist = text(info.nodes);
    batch.says_tasks = info.bitflags & JOB_NTASKS_SET;
    batch.started = time_of(info.start_time);
    batch.ends = time_of(info.end_time);
    return batch;
}

} // namespace

Result<BatchJob> SlurmApi::load_batch(JobRef ref)
{
    std::string doing = "load JobId=" + std::to_string(ref.id);
    job_info_msg_t *raw = nullptr;
    // As load() has it.
    if ((slurm_load_job)(&raw, step_of(ref), SHOW_LOCAL | SHOW_DETAIL) !=
        SLURM_SUCCESS)
        return fail_slurm(errno, doing);
    JobInfo info(raw);
    for (std::uint32_t i = 0; i < info->record_count; i++) {
        const slurm_job_info_t &record = info->job_array[i];
        BatchJob batch = batch_of(record);
        if (batch.job.ref != ref)
            continue;
        // Else its Pod would get no limit where it was given one.
        if (auto given = tres_memory(text(record.tres_alloc_str)); !given)
            return fail(given.error(), doing);
        return batch;
    }
    return fail(Code::not_found, doing + ": this id belongs to another job");
}

Result<> SlurmApi::set_tag(JobRef job, const GangTag &tag)
{
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    message.step_id = step_of(job);
    std::string comment = encode(tag);
    message.admin_comment = borrow(comment);
    if (slurm_update_job(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, "tag JobId=" + std::to_string(job.id));
    return {};
}

} // namespace bridge
