// SPDX-License-Identifier: GPL-2.0-or-later
// The job half of SlurmApi.
#include "agent/het_job.h"
#include "agent/slurm_api.h"
#include "agent/slurm_error.h"
#include "agent/slurm_job_record.h"
#include "agent/slurm_request.h"
#include "agent/slurm_states.h"
#include "agent/slurm_strings.h"
#include "agent/tres_memory.h"

#include "common/log.h"
#include "common/names.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <pwd.h>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

// Exported by libslurm under this name, and missing in slurm.h.
const char *slurm_job_state_reason_string(int reason);
}

namespace bridge {

namespace {

using JobInfo = SlurmPtr<job_info_msg_t, slurm_free_job_info_msg>;
using StateInfo =
    SlurmPtr<job_state_response_msg_t, slurm_free_job_state_response_msg>;
using AllocationInfo = SlurmPtr<resource_allocation_response_msg_t,
                                slurm_free_resource_allocation_response_msg>;
using SubmitResponse =
    SlurmPtr<submit_response_msg_t, slurm_free_submit_response_response_msg>;

JobRef ref_of(const slurm_job_info_t &info)
{
    return {info.step_id.job_id, Sluid{info.step_id.sluid}};
}

// Only with SHOW_DETAIL, and while the job has them.
std::vector<std::vector<JobGres>> gres_of(const slurm_job_info_t &info)
{
    std::vector<std::vector<JobGres>> on;
    for (std::uint32_t i = 0; i < info.gres_detail_cnt; i++) {
        auto gres = parse_job_gres(text(info.gres_detail_str[i]));
        if (!gres) {
            log_warning("a job's GRES are not understood",
                        {{"JobId", info.step_id.job_id},
                         {"err", gres.error().message}});
            return {};
        }
        on.push_back(std::move(*gres));
    }
    return on;
}

} // namespace

slurm_step_id_t step_of(JobRef job)
{
    slurm_step_id_t step{};
    step.sluid = job.sluid.value;
    step.job_id = job.id;
    step.step_het_comp = NO_VAL;
    step.step_id = NO_VAL;
    return step;
}

Job job_of(const slurm_job_info_t &info)
{
    Job job;
    job.ref = ref_of(info);
    if (auto tag = decode_gang_tag(text(info.admin_comment)))
        job.tag = *tag;
    job.state = job_state_of(info.job_state);
    if (job.state == JobState::pending) {
        job.reason = text(slurm_job_state_reason_string(
            static_cast<int>(info.state_reason)));
        job.features = text(info.features);
        job.priority = info.priority;
        job.expected_start =
            std::chrono::sys_seconds(std::chrono::seconds(info.start_time));
    }
    job.prefers = !text(info.prefer).empty();
    job.gres_per_node = text(info.tres_per_node);
    job.gres_per_task = text(info.tres_per_task);
    job.exclusive = info.shared == JOB_SHARED_NONE;
    job.tasks = std::max<std::uint32_t>(info.num_tasks, 1);
    job.cpus_per_task = std::max<std::uint16_t>(info.cpus_per_task, 1);
    if (is_allocated(job.state)) {
        job.nodes = expand(info.nodes);
        job.cpus = info.num_cpus;
        job.devices = text(info.tres_alloc_str).contains("gres/");
        job.gres_on = gres_of(info);
    }
    if (info.pn_min_memory & MEM_PER_CPU)
        job.memory_per_cpu.value = info.pn_min_memory & ~MEM_PER_CPU;
    else
        job.memory_per_node.value = info.pn_min_memory;
    // Who asks for none is given all that the node has.
    if (info.pn_min_memory == 0 && job.nodes.size() == 1)
        job.memory_per_node =
            tres_memory(text(info.tres_alloc_str)).value_or(MebiBytes{});
    return job;
}

namespace {

// The CPUs of a job on each of its nodes, which its record does not tell.
Result<> add_cpus_on_nodes(Job &job)
{
    resource_allocation_response_msg_t *raw = nullptr;
    std::string doing = "look up JobId=" + std::to_string(job.ref.id);
    if ((slurm_allocation_lookup)(step_of(job.ref), &raw) != SLURM_SUCCESS)
        return errno == ESLURM_ALREADY_DONE // since its record was read
                   ? fail(Code::busy, doing + ": it has just ended")
                   : fail_slurm(errno, doing);
    AllocationInfo info(raw);
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t i = 0; i < info->num_cpu_groups; i++)
        cpus.insert(cpus.end(), info->cpu_count_reps[i],
                    info->cpus_per_node[i]);
    if (expand(info->node_list) != job.nodes || cpus.size() != job.nodes.size())
        return fail(Code::busy, doing + ": its nodes are changing");
    job.cpus_on = std::move(cpus);
    return {};
}

JobRecord record_of(const slurm_job_info_t &info)
{
    return {job_of(info), info.het_job_id, info.het_job_offset};
}

// slurmctld leaves the name out.
std::string user_of(const slurm_job_info_t &info)
{
    if (info.user_name)
        return info.user_name;
    char buffer[16384];
    passwd record{};
    passwd *found = nullptr;
    getpwuid_r(info.user_id, &record, buffer, sizeof(buffer), &found);
    return found ? found->pw_name : std::to_string(info.user_id);
}

JobDetails details_of(const slurm_job_info_t &info)
{
    JobDetails details;
    details.job = job_of(info);
    details.reason_details = text(info.state_desc);
    details.user = user_of(info);
    details.account = text(info.account);
    details.partition = text(info.partition);
    details.qos = text(info.qos);
    details.reservation = text(info.resv_name);
    details.requested = text(info.tres_req_str);
    details.allocated = text(info.tres_alloc_str);
    details.features = text(info.features);
    if (info.time_limit != INFINITE && info.time_limit != NO_VAL)
        details.time_limit = info.time_limit;
    details.submitted = time_of(info.submit_time);
    if (details.job.state != JobState::pending) // else it is expected only
        details.started = time_of(info.start_time);
    if (is_ended(details.job.state)) // else it is the time limit's
        details.ended = time_of(info.end_time);
    return details;
}

} // namespace

JobState job_state_of(std::uint32_t state)
{
    switch (state & 0xff) { // JOB_STATE_BASE; the flags are above
    case JOB_PENDING:
        return JobState::pending;
    case JOB_RUNNING:
        return state & JOB_CONFIGURING ? JobState::configuring
                                       : JobState::running;
    case JOB_SUSPENDED:
        return JobState::suspended;
    case JOB_COMPLETE:
        return JobState::completed;
    case JOB_CANCELLED:
        return JobState::cancelled;
    case JOB_FAILED:
        return JobState::failed;
    case JOB_TIMEOUT:
        return JobState::timeout;
    case JOB_NODE_FAIL:
        return JobState::node_fail;
    case JOB_PREEMPTED:
        return JobState::preempted;
    case JOB_BOOT_FAIL:
        return JobState::boot_fail;
    case JOB_DEADLINE:
        return JobState::deadline;
    case JOB_OOM:
        return JobState::out_of_memory;
    default:
        return JobState::unknown;
    }
}

Result<JobRef> SlurmApi::submit(const JobDescription &job)
{
    SubmitRequest request(job);
    submit_response_msg_t *raw = nullptr;
    int rc = slurm_submit_batch_job(&request.message, &raw);
    int error = errno;
    SubmitResponse response(raw);
    if (rc != SLURM_SUCCESS)
        return fail_slurm(error, "submit");
    if (!response)
        return fail(Code::uncertain, "submit: an answer without a JobId");
    // error_code in an accepted job's response is only a note: slurm.md 1.
    return JobRef{response->step_id.job_id, Sluid{response->step_id.sluid}};
}

Result<Job> SlurmApi::load(JobRef ref)
{
    std::string doing = "load JobId=" + std::to_string(ref.id);
    job_info_msg_t *raw = nullptr;
    // In parentheses: slurm.h has a C macro of the same name over it.
    // SHOW_LOCAL saves the RPC that asks for a federation.
    if ((slurm_load_job)(&raw, step_of(ref), SHOW_LOCAL | SHOW_DETAIL) !=
        SLURM_SUCCESS)
        return fail_slurm(errno, doing);
    JobInfo info(raw);
    std::vector<JobRecord> records; // of a heterogeneous job's leader: of all
    for (std::uint32_t i = 0; i < info->record_count; i++)
        records.push_back(record_of(info->job_array[i]));
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
        return fail(Code::not_found, "load JobId=" + std::to_string(id) +
                                         ": no such job");
    return details_of(info->job_array[0]);
}

Result<std::vector<Job>> SlurmApi::load_all()
{
    job_info_msg_t *raw = nullptr;
    if (slurm_load_jobs(0, &raw, SHOW_ALL | SHOW_LOCAL) !=
        SLURM_SUCCESS)
        return fail_slurm(errno, "load all jobs");
    JobInfo info(raw);
    std::vector<JobRecord> records;
    for (std::uint32_t i = 0; i < info->record_count; i++)
        if (info->job_array[i].het_job_id != 0 ||
            decode_gang_tag(text(info->job_array[i].admin_comment)))
            records.push_back(record_of(info->job_array[i]));
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
    // slurm_kill_job would kill by id whatever the SLUID says; completion with
    // NO_VAL is the cancel that checks it (slurm.md 5).
    return complete(job, static_cast<int>(NO_VAL));
}

Result<> SlurmApi::set_priority(JobRef job, std::uint32_t priority)
{
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    message.step_id = step_of(job);
    message.priority = priority;
    if (slurm_update_job(&message) != SLURM_SUCCESS)
        return fail_slurm(errno,
                          "set the priority of JobId=" + std::to_string(job.id));
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
