// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job_record.h"

#include "common/base/log.h"
#include "common/slurm/error.h"
#include "common/slurm/job_gres.h"
#include "common/slurm/states.h"
#include "common/slurm/tres_memory.h"

#include <algorithm>
#include <cerrno>
#include <pwd.h>

extern "C" {
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

using AllocationInfo = SlurmPtr<resource_allocation_response_msg_t,
                                slurm_free_resource_allocation_response_msg>;

JobRef ref_of(const slurm_job_info_t &info)
{
    return {info.step_id.job_id, Sluid{info.step_id.sluid}};
}

// Returns the GRES on each node. Only complete with SHOW_DETAIL, and while the
// job is allocated.
std::vector<std::vector<JobGres>> gres_of(const slurm_job_info_t &info)
{
    std::vector<std::vector<JobGres>> on;
    for (std::uint32_t i = 0; i < info.gres_detail_cnt; i++) {
        auto gres = parse_job_gres(text(info.gres_detail_str[i]));
        if (!gres) {
            log_warning("cannot parse the GRES of a job",
                        {{"JobId", info.step_id.job_id},
                         {"err", gres.error().message}});
            return {};
        }
        on.push_back(std::move(*gres));
    }
    return on;
}

// slurmctld does not send the name of the user.
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

bool was_resumed(const slurm_job_info_t &info)
{
    // slurmctld moves suspend_time when it resumes the job as well. Then, or
    // when the job is suspended again, less time has run until it than has
    // passed since the start.
    if (info.suspend_time == 0 || info.suspend_time < info.start_time)
        return false;
    if (job_state_of(info.job_state) != JobState::suspended)
        return true;
    return info.suspend_time - info.start_time > info.pre_sus_time;
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

bool is_array_rest(const slurm_job_info_t &info)
{
    return info.array_job_id != 0 && info.array_task_id == NO_VAL;
}

bool holds_nodes(const slurm_job_info_t &info)
{
    std::uint32_t base = info.job_state & JOB_STATE_BASE;
    return base == JOB_RUNNING || base == JOB_SUSPENDED ||
           (info.job_state & JOB_COMPLETING);
}

bool is_eligible(const slurm_job_info_t &info, std::time_t now)
{
    return text(info.dependency).empty() && info.eligible_time != 0 &&
           info.eligible_time <= now;
}

QueuedJob queued_job_of(const slurm_job_info_t &info, std::time_t now)
{
    const char *reason =
        is_eligible(info, now)
            ? slurm_job_state_reason_string(static_cast<int>(info.state_reason))
            : nullptr;
    return {info.partition ? info.partition : "", info.priority,
            reason ? reason : ""};
}

QueueWants queue_wants_of(const job_info_msg_t &info)
{
    QueueWants wants;
    for (const slurm_job_info_t &job : jobs_in(info))
        if (job_state_of(job.job_state) == JobState::pending)
            wants.add(queued_job_of(job, info.last_update));
    return wants;
}

Job job_of(const slurm_job_info_t &info)
{
    Job job;
    job.ref = ref_of(info);
    if (auto tag = decode_gang_tag(text(info.admin_comment)))
        job.tag = *tag;
    job.state = job_state_of(info.job_state);
    if (job.state == JobState::pending) {
        job.reason = text(
            slurm_job_state_reason_string(static_cast<int>(info.state_reason)));
        job.features = text(info.features);
        job.priority = info.priority;
        job.expected_start =
            std::chrono::sys_seconds(std::chrono::seconds(info.start_time));
    }
    job.partition = text(info.partition);
    job.resumed = was_resumed(info);
    job.prefers = !text(info.prefer).empty();
    job.gres_per_node = text(info.tres_per_node);
    job.gres_per_task = text(info.tres_per_task);
    job.exclusive = info.shared == JOB_SHARED_NONE;
    job.tasks = std::max<std::uint32_t>(info.num_tasks, 1);
    job.cpus_per_task = std::max<std::uint16_t>(info.cpus_per_task, 1);
    if (is_allocated(job.state)) {
        job.nodes = expand(info.nodes);
        job.cpus = info.num_cpus;
        // AccountingStorageTRES need not contain all GRES.
        job.devices = text(info.tres_alloc_str).contains("gres/") ||
                      info.gres_detail_cnt != 0;
        job.gres_on = gres_of(info);
    }
    if (info.pn_min_memory & MEM_PER_CPU)
        job.memory_per_cpu.value = info.pn_min_memory & ~MEM_PER_CPU;
    else
        job.memory_per_node.value = info.pn_min_memory;
    // A job that requests no memory gets all memory of its node.
    if (info.pn_min_memory == 0 && job.nodes.size() == 1)
        job.memory_per_node =
            tres_memory(text(info.tres_alloc_str)).value_or(MebiBytes{});
    return job;
}

Result<> add_cpus_on_nodes(Job &job)
{
    resource_allocation_response_msg_t *raw = nullptr;
    std::string doing = "look up JobId=" + std::to_string(job.ref.id);
    if ((slurm_allocation_lookup)(step_of(job.ref), &raw) != SLURM_SUCCESS)
        return errno == ESLURM_ALREADY_DONE // ended since its record was read
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
    if (details.job.state != JobState::pending) // otherwise it is only expected
        details.started = time_of(info.start_time);
    if (is_ended(details.job.state)) // otherwise it is the time limit
        details.ended = time_of(info.end_time);
    return details;
}

JobState job_state_of(std::uint32_t state)
{
    switch (state & 0xff) { // JOB_STATE_BASE; the other bits are flags
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

} // namespace bridge
