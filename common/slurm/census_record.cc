// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/census_record.h"

#include "common/slurm/job.h"
#include "common/slurm/job_queue.h"
#include "common/slurm/job_record.h"
#include "common/slurm/node_use.h"
#include "common/slurm/state_tests.h"
#include "common/slurm/strings.h"

#include <algorithm>
#include <ctime>
#include <string>

extern "C" {
// Exported by libslurm under this name, and missing in slurm.h.
std::int32_t slurm_bit_set_count(bitstr_t *bits);
}

namespace bridge {

namespace {

std::string_view view(const char *s)
{
    return s ? s : std::string_view();
}

JobKind kind_of(const slurm_job_info_t &info)
{
    std::string comment = text(info.admin_comment);
    if (auto tag = decode_gang_tag(comment))
        return tag->script.empty() ? JobKind::pod : JobKind::batch;
    return decode_shadow(comment) ? JobKind::shadow : JobKind::native;
}

// All of them, also those that may not run at once. slurmctld cuts the text
// short after some characters, and never the bitmap.
std::uint32_t tasks_in(const slurm_job_info_t &info)
{
    if (!is_array_rest(info))
        return 1;
    if (info.array_bitmap)
        return static_cast<std::uint32_t>(
            std::max(slurm_bit_set_count(info.array_bitmap), 1));
    std::string_view list = view(info.array_task_str);
    return count_tasks(list.substr(0, list.find('%')));
}

// As squeue has it. slurmctld moves suspend_time when it resumes the job, too;
// until then the job had run for pre_sus_time. What is older than the start is
// of an earlier run.
std::chrono::seconds run_time_of(const slurm_job_info_t &info)
{
    if (info.start_time == 0)
        return {};
    std::time_t ran = info.end_time - info.start_time;
    if (info.suspend_time >= info.start_time)
        ran = info.end_time - info.suspend_time + info.pre_sus_time;
    return std::chrono::seconds(std::max<std::time_t>(ran, 0));
}

} // namespace

CountedNode counted_node_of(const node_info_t &info)
{
    CountedNode node;
    node.name = info.name;
    node.state = info.node_state;
    node.cpus = info.cpus;
    node.usable_cpus = info.cpus_efctv != 0 ? info.cpus_efctv : info.cpus;
    node.allocated_cpus = info.alloc_cpus;
    node.memory.value = info.real_memory;
    node.usable_memory.value =
        info.real_memory - std::min(info.mem_spec_limit, info.real_memory);
    node.allocated_memory.value = info.alloc_memory;
    if (info.free_mem != NO_VAL64)
        node.free_memory = MebiBytes{info.free_mem};
    node.gres = text(info.gres);
    node.gres_used = text(info.gres_used);
    node.reason = text(info.reason);
    node.reason_since = time_of(info.reason_time);
    node.reason_user = info.reason_uid;
    return node;
}

CountedJob counted_job_of(const slurm_job_info_t &info)
{
    CountedJob job;
    job.id = info.step_id.job_id;
    job.kind = kind_of(info);
    job.state = info.job_state;
    job.tasks = tasks_in(info);
    job.partition = view(info.partition);
    job.qos = view(info.qos);
    job.account = view(info.account);
    job.user = info.user_id;
    job.reason = view(
        slurm_job_state_reason_string(static_cast<int>(info.state_reason)));
    job.held = info.priority == 0;
    job.restarts = info.restart_cnt;
    if (has_allocation(info.job_state)) {
        job.cpus = info.num_cpus;
        job.nodes = info.num_nodes;
        job.tres = view(info.tres_alloc_str);
    }
    // Of a job that is completing slurmctld tells only the nodes that still
    // work on it: none if they have failed (pack_job() in its job_mgr.c).
    job.had_nodes =
        (info.nodes && *info.nodes) || has_allocation(info.job_state);
    job.eligible = time_of(info.eligible_time);
    if (!is_pending(info.job_state)) {
        job.start = time_of(info.start_time);
        // slurmctld forgets it of a job that is held and released as it runs.
        if (info.eligible_time == 0)
            job.eligible = time_of(info.submit_time);
    }
    if (end_state_name(info.job_state)) {
        job.end = time_of(info.end_time);
        job.ran = run_time_of(info);
    }
    return job;
}

} // namespace bridge
