// SPDX-License-Identifier: GPL-2.0-or-later
// The job part of SlurmApi.
#include "common/slurm/api.h"
#include "common/slurm/cores.h"
#include "common/slurm/error.h"
#include "common/slurm/het_job.h"
#include "common/slurm/job_record.h"
#include "common/slurm/request.h"
#include "common/slurm/states.h"
#include "common/slurm/strings.h"
#include "common/slurm/submitted.h"
#include "common/slurm/waiting_job.h"

#include <algorithm>
#include <cerrno>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

using StateInfo =
    SlurmPtr<job_state_response_msg_t, slurm_free_job_state_response_msg>;

} // namespace

Result<JobRef> SlurmApi::submit(const JobDescription &job)
{
    SubmitRequest request(job);
    return submitted_job("submit", [&](submit_response_msg_t **answer) {
        return slurm_submit_batch_job(&request.message, answer);
    });
}

Result<JobInfo> load_records(JobRef ref)
{
    job_info_msg_t *raw = nullptr;
    // In parentheses, because slurm.h has a macro of the same name. SHOW_LOCAL
    // avoids the RPC that asks for a federation.
    if ((slurm_load_job)(&raw, step_of(ref), SHOW_LOCAL | SHOW_DETAIL) !=
        SLURM_SUCCESS)
        return fail_slurm(errno, "load JobId=" + std::to_string(ref.id));
    return JobInfo(raw);
}

Result<std::optional<JobInfo>> load_records_since(std::int64_t as_of,
                                                  const char *what)
{
    job_info_msg_t *raw = nullptr;
    if (slurm_load_jobs(as_of, &raw, SHOW_ALL | SHOW_LOCAL) == SLURM_SUCCESS)
        return JobInfo(raw);
    if (errno == SLURM_NO_CHANGE_IN_DATA && as_of != 0)
        return std::nullopt;
    return fail_slurm(errno, what);
}

Result<JobInfo> load_all_records(const char *what)
{
    auto records = load_records_since(0, what);
    if (!records)
        return std::unexpected(records.error());
    return std::move(**records); // as_of was 0
}

Result<Job> SlurmApi::load(JobRef ref)
{
    std::string doing = "load JobId=" + std::to_string(ref.id);
    auto loaded = load_records(ref);
    if (!loaded)
        return std::unexpected(loaded.error());
    const job_info_msg_t &info = **loaded;
    std::vector<JobRecord> records; // all components if ref is a leader
    for (std::uint32_t i = 0; i < info.record_count; i++) {
        if (is_array_rest(info.job_array[i]))
            continue;
        records.push_back(record_of(info.job_array[i]));
        Job &job = records.back().job;
        job.cpu_ids_on = cores_on_nodes(info.job_array[i], job.nodes);
    }
    if (std::ranges::none_of(records, [&](const JobRecord &record) {
            return record.job.ref == ref;
        }))
        return fail(Code::not_found,
                    doing + ": this id belongs to another job");
    for (JobRecord &record : records) {
        record.job.gres_read = true;
        if (record.job.nodes.size() > 1)
            if (auto added = add_cpus_on_nodes(record.job); !added)
                return std::unexpected(added.error());
    }
    return join_components(ref, std::move(records));
}

Result<JobDetails> SlurmApi::load_details(JobId id)
{
    job_info_msg_t *raw = nullptr;
    if ((slurm_load_job)(&raw, step_of({id, {}}), SHOW_LOCAL) != SLURM_SUCCESS)
        return fail_slurm(errno, "load JobId=" + std::to_string(id));
    JobInfo info(raw);
    if (info->record_count == 0)
        return fail(Code::not_found,
                    "load JobId=" + std::to_string(id) + ": no such job");
    return details_of(info->job_array[0]);
}

Result<std::vector<Job>> SlurmApi::load_all()
{
    auto info = load_all_records("load all jobs");
    if (!info)
        return std::unexpected(info.error());
    std::vector<JobRecord> records;
    const QueueWants wants = queue_wants_of(**info);
    const RunningTasks running = running_tasks(**info);
    for (const slurm_job_info_t &job : jobs_in(**info))
        if (job.het_job_id != 0 || decode_gang_tag(text(job.admin_comment))) {
            records.push_back(record_of(job));
            Job &added = records.back().job;
            added.wants_nodes =
                added.state == JobState::pending &&
                wants.has(queued_job_of(job, (*info)->last_update));
            if (added.wants_nodes && (job.het_job_id != 0 || lacks_pods(added)))
                added.waiting = std::make_shared<const WaitingJob>(
                    waiting_job(job, running));
            // Its SLUID may be that of a task: remove it, so that nobody takes
            // it for that task.
            if (is_array_rest(job))
                added.ref.sluid = {};
        }
    return join_components(std::move(records));
}

Result<std::vector<JobStateHint>> SlurmApi::load_states()
{
    job_state_response_msg_t *raw = nullptr;
    if (slurm_load_job_state(0, nullptr, &raw) != SLURM_SUCCESS)
        return fail_slurm(errno, "load job states");
    StateInfo info(raw);
    std::vector<JobStateHint> hints(info->jobs_count);
    for (std::uint32_t i = 0; i < info->jobs_count; i++)
        hints[i] = {info->jobs[i].job_id, job_state_of(info->jobs[i].state)};
    return hints;
}

Result<> SlurmApi::complete(JobRef job, int status)
{
    slurm_step_id_t step = step_of(job);
    if (slurm_complete_job(&step, static_cast<std::uint32_t>(status)) ==
            SLURM_SUCCESS ||
        errno == ESLURM_ALREADY_DONE)
        return {};
    return fail_slurm(errno, "complete JobId=" + std::to_string(job.id));
}

Result<> SlurmApi::cancel(JobRef job)
{
    // slurm_kill_job() ignores the SLUID; completing the job with NO_VAL is a
    // cancellation that checks it.
    return complete(job, static_cast<int>(NO_VAL));
}

Result<> SlurmApi::resume_job(JobRef job)
{
    // In parentheses, because slurm.h has a macro of the same name.
    if ((slurm_resume)(step_of(job)) == SLURM_SUCCESS ||
        errno == ESLURM_JOB_NOT_SUSPENDED || errno == ESLURM_JOB_PENDING)
        return {};
    return fail_slurm(errno, "resume JobId=" + std::to_string(job.id));
}

Result<> SlurmApi::set_priority(JobRef job, std::uint32_t priority)
{
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    message.step_id = step_of(job);
    message.priority = priority;
    if (slurm_update_job(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, "set the priority of JobId=" +
                                     std::to_string(job.id));
    return {};
}

Result<> SlurmApi::set_partitions(JobRef job, const std::string &names,
                                  std::uint32_t time_limit)
{
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    message.step_id = step_of(job);
    message.partition = borrow(names);
    // Without this, the job gets the time limit of the partition in which it
    // starts.
    message.time_limit = time_limit;
    if (slurm_update_job(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, "set the partitions of JobId=" +
                                     std::to_string(job.id));
    return {};
}

Result<> SlurmApi::set_comment(JobRef job, const std::string &words)
{
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    message.step_id = step_of(job);
    message.comment = borrow_if_any(words);
    if (slurm_update_job(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, "comment on JobId=" + std::to_string(job.id));
    return {};
}

} // namespace bridge
