// SPDX-License-Identifier: GPL-2.0-or-later
// What SlurmApi does for sbatch's jobs alone.
#include "agent/slurm_api.h"
#include "agent/slurm_error.h"
#include "agent/slurm_job_record.h"
#include "agent/slurm_strings.h"

#include <cerrno>
#include <charconv>

extern "C" {
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

using JobInfo = SlurmPtr<job_info_msg_t, slurm_free_job_info_msg>;

// "cpu=2,mem=200M,node=1,billing=2"; 0: it does not say.
MebiBytes memory_in(std::string_view tres)
{
    constexpr std::string_view key = "mem=";
    std::size_t at = tres.starts_with(key) ? 0 : tres.find(",mem=");
    if (at == tres.npos)
        return {};
    tres.remove_prefix(tres.find('=', at) + 1);
    std::uint64_t amount = 0;
    const char *last = tres.data() + tres.size();
    auto [end, error] = std::from_chars(tres.data(), last, amount);
    if (error != std::errc())
        return {};
    constexpr std::string_view units = "MGTP"; // slurmctld counts in MiB
    std::size_t unit = end == last ? 0 : units.find(*end);
    if (unit == units.npos)
        return {};
    return {amount << (10 * unit)};
}

BatchJob batch_of(const slurm_job_info_t &info)
{
    BatchJob batch;
    batch.job = job_of(info);
    Job &job = batch.job;
    if (job.memory_per_node.value == 0 && job.memory_per_cpu.value == 0)
        job.memory_per_node = memory_in(text(info.tres_alloc_str));
    batch.user_id = info.user_id;
    batch.group_id = info.group_id;
    batch.name = text(info.name);
    batch.partition = text(info.partition);
    batch.account = text(info.account);
    batch.qos = text(info.qos);
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
        BatchJob batch = batch_of(info->job_array[i]);
        if (batch.job.ref == ref)
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
