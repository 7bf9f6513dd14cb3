// SPDX-License-Identifier: GPL-2.0-or-later
// The part of SlurmApi for sbatch jobs.
#include "common/slurm/api.h"
#include "common/slurm/error.h"
#include "common/slurm/het_job.h"
#include "common/slurm/job_record.h"
#include "common/slurm/strings.h"
#include "common/slurm/tres_memory.h"

#include <cerrno>
#include <utility>
#include <vector>

extern "C" {
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

// Both return what slurmctld passes to its hooks (slurm_protocol_defs.c).
const char *oversubscribe_of(const slurm_job_info_t &info)
{
    switch (info.oversubscribe) {
    case JOB_OVERSUBSCRIBE_YES:
        return "YES";
    case JOB_OVERSUBSCRIBE_OK:
        return "OK";
    default:
        return "NO";
    }
}

const char *exclusive_of(const slurm_job_info_t &info)
{
    switch (info.exclusive) {
    case JOB_EXCLUSIVE_NODE:
        return "NODE";
    case JOB_EXCLUSIVE_USER:
        return "USER";
    case JOB_EXCLUSIVE_MCS:
        return "MCS";
    case JOB_EXCLUSIVE_TOPO:
        return "TOPO";
    default:
        return "NO";
    }
}

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
    if (info.array_task_id != NO_VAL)
        batch.array = ArrayTask{info.array_job_id, info.array_task_id};
    batch.says_tasks = info.bitflags & JOB_NTASKS_SET;
    for (const char *tres : {info.tres_per_job, info.tres_per_node,
                             info.tres_per_socket, info.tres_per_task})
        batch.asks_gres |= text(tres).contains("gres");
    batch.job.gres_read = true; // SHOW_DETAIL
    batch.tres_per_task = text(info.tres_per_task);
    batch.licenses = text(info.licenses_allocated);
    batch.oversubscribe = oversubscribe_of(info);
    batch.exclusive = exclusive_of(info);
    batch.started = time_of(info.start_time);
    batch.ends = time_of(info.end_time);
    return batch;
}

// Adds the amounts that the job's record alone does not contain.
Result<> add_amounts(BatchJob &batch, const slurm_job_info_t &info)
{
    // Without this check the Pod would have no memory limit although the job
    // has one.
    auto given = tres_memory(text(info.tres_alloc_str));
    if (!given)
        return std::unexpected(given.error());
    Job &job = batch.job;
    if (job.nodes.size() < 2)
        return {};
    if (!batch.says_memory) // all memory of each node: Slurm reports only the
                            // sum
        job.memory_per_node.value = given->value / job.nodes.size();
    return add_cpus_on_nodes(job);
}

// Returns the heterogeneous job that ref leads, with all its components.
Result<Job> whole_job(JobRef ref, const job_info_msg_t &info)
{
    std::vector<JobRecord> records;
    for (std::uint32_t i = 0; i < info.record_count; i++) {
        const slurm_job_info_t &record = info.job_array[i];
        if (record.het_job_id != ref.id)
            continue;
        BatchJob component = batch_of(record);
        if (auto added = add_amounts(component, record); !added)
            return std::unexpected(added.error());
        records.push_back(
            {std::move(component.job), ref.id, record.het_job_offset});
    }
    return join_components(ref, std::move(records));
}

} // namespace

Result<BatchJob> SlurmApi::load_batch(JobRef ref)
{
    std::string doing = "load JobId=" + std::to_string(ref.id);
    auto info = load_records(ref);
    if (!info)
        return std::unexpected(info.error());
    for (std::uint32_t i = 0; i < (*info)->record_count; i++) {
        const slurm_job_info_t &record = (*info)->job_array[i];
        BatchJob batch = batch_of(record);
        if (batch.job.ref != ref)
            continue;
        if (is_array_rest(record))
            return fail(Code::not_found,
                        doing + ": it is a job array, not one of its tasks");
        if (auto added = add_amounts(batch, record); !added)
            return fail(added.error(), doing);
        if (record.het_job_id != ref.id)
            return batch;
        auto whole = whole_job(ref, **info);
        if (!whole)
            return fail(whole.error(), doing);
        batch.job = std::move(*whole);
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
