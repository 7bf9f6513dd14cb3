// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/waiting_job.h"

#include "common/base/text.h"
#include "common/slurm/job_record.h"
#include "common/slurm/strings.h"

#include <algorithm>

namespace bridge {

namespace {

template <class Number> std::uint32_t given(Number value, Number none)
{
    return value == none ? 0 : value;
}

} // namespace

RunningTasks running_tasks(const job_info_msg_t &info)
{
    RunningTasks tasks;
    for (const slurm_job_info_t &job : jobs_in(info))
        if (job.array_job_id != 0 && !is_array_rest(job) && holds_nodes(job))
            tasks[job.array_job_id]++;
    return tasks;
}

WaitingJob waiting_job(const slurm_job_info_t &info,
                       const RunningTasks &running)
{
    WaitingJob job;
    job.id = info.step_id.job_id;
    job.priority = info.priority;
    job.array = is_array_rest(info);
    if (job.array) {
        auto now = running.find(info.array_job_id);
        job.count = count_tasks(text(info.array_task_str),
                                now == running.end() ? 0 : now->second);
    }
    std::string partitions = text(info.partition);
    for (std::string_view name : all_parts(partitions, ','))
        job.partitions.emplace_back(name);
    job.nodes = std::max(given(info.num_nodes, NO_VAL), 1u);
    job.max_nodes = given(info.max_nodes, NO_VAL);
    job.cpus = std::max(given(info.num_cpus, NO_VAL), 1u);
    job.cpus_per_node =
        std::max(given<std::uint16_t>(info.pn_min_cpus, NO_VAL16), 1u);
    job.tasks = std::max(given(info.num_tasks, NO_VAL), 1u);
    job.tasks_per_node = given<std::uint16_t>(info.ntasks_per_node, NO_VAL16);
    if (info.ntasks_per_node == INFINITE16)
        job.tasks_per_node = 0;
    if (info.pn_min_memory != NO_VAL64)
        ((info.pn_min_memory & MEM_PER_CPU) ? job.memory_per_cpu
                                            : job.memory_per_node)
            .value = info.pn_min_memory & ~MEM_PER_CPU;
    job.gres_per_node = asked_gres(text(info.tres_per_node));
    job.gres_per_task = asked_gres(text(info.tres_per_task));
    job.gres_per_job = asked_gres(text(info.tres_per_job));
    job.features = text(info.features);
    job.whole_nodes = info.exclusive == JOB_EXCLUSIVE_NODE;
    job.required = expand(info.req_nodes);
    job.excluded = expand(info.exc_nodes);
    return job;
}

} // namespace bridge
