// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/gres.h"
#include "agent/batch/pod.h"
#include "agent/gang/batch_place.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace bridge {

namespace {

// Returns the number of tasks like env_array_for_batch_job() in Slurm's env.c;
// 0 if none was requested.
std::uint64_t tasks_said(const BatchJob &batch)
{
    if (batch.says_tasks)
        return batch.job.tasks;
    return std::uint64_t{batch.tasks_per_node} * batch.job.nodes.size();
}

// Adds NAME=VALUE, unless the value is empty.
void add_variable(std::vector<std::string> &all, const char *name,
                  const std::string &value)
{
    if (!value.empty())
        all.push_back(std::string(name) + "=" + value);
}

// Adds the variables that say how many tasks and CPUs and how much memory the
// job has.
void add_sizes(std::vector<std::string> &all, const BatchJob &batch)
{
    const Job &job = batch.job;
    auto add = [&](const char *name, const std::string &value) {
        add_variable(all, name, value);
    };
    auto number = [](auto value) { return std::to_string(value); };
    if (std::uint64_t tasks = tasks_said(batch); tasks != 0)
        for (const char *name : {"SLURM_NTASKS", "SLURM_NPROCS"})
            add(name, number(tasks));
    add("SLURM_TASKS_PER_NODE", in_short(tasks_on_each(batch)));
    if (job.cpus_per_task > 1)
        add("SLURM_CPUS_PER_TASK", number(job.cpus_per_task));
    auto cpus = cpus_on_each(job);
    add("SLURM_CPUS_ON_NODE", number(cpus.front()));
    add("SLURM_JOB_CPUS_PER_NODE", in_short(cpus));
    if (job.memory_per_node.value != 0 && batch.says_memory)
        add("SLURM_MEM_PER_NODE", number(job.memory_per_node.value));
    else if (job.memory_per_cpu.value != 0)
        add("SLURM_MEM_PER_CPU", number(job.memory_per_cpu.value));
}

// Adds the variables of the step that runs the script, on the first node.
void add_script_step(std::vector<std::string> &all)
{
    // SLURM_BATCH_SCRIPT (slurm.h), as slurmstepd prints it.
    for (const char *name : {"SLURM_STEP_ID", "SLURM_STEPID"})
        add_variable(all, name, "-5");
    for (const char *name :
         {"SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS"})
        add_variable(all, name, "0");
}

} // namespace

std::vector<std::string> batch_variables(const BatchJob &batch,
                                         const BatchUser &user,
                                         const std::string &cluster)
{
    const Job &job = batch.job;
    std::vector<std::string> all;
    auto add = [&](const char *name, const std::string &value) {
        add_variable(all, name, value);
    };
    auto number = [](auto value) { return std::to_string(value); };
    auto seconds = [](std::chrono::sys_seconds time) {
        return std::to_string(time.time_since_epoch().count());
    };
    std::string id = number(job.ref.id);
    for (const char *name : {"SLURM_JOB_ID", "SLURM_JOBID"})
        add(name, id);
    add("SLURM_JOB_SLUID", job.ref.sluid.str());
    add("SLURM_JOB_NAME", batch.name);
    for (const char *name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
        add(name, batch.hostlist);
    for (const char *name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"})
        add(name, number(job.nodes.size()));
    add_sizes(all, batch);
    add("SLURM_JOB_PARTITION", batch.partition);
    add("SLURM_JOB_ACCOUNT", batch.account);
    add("SLURM_JOB_QOS", batch.qos);
    add("SLURM_JOB_RESERVATION", batch.reservation);
    add("SLURM_JOB_LICENSES", batch.licenses);
    add("SLURM_JOB_OVERSUBSCRIBE", batch.oversubscribe);
    add("SLURM_JOB_EXCLUSIVE", batch.exclusive);
    add("SLURM_TRES_PER_TASK", batch.tres_per_task);
    add("SLURM_JOB_UID", number(batch.user_id));
    add("SLURM_JOB_USER", user.name);
    add("SLURM_JOB_GID", number(batch.group_id));
    add("SLURM_JOB_GROUP", user.group);
    add("SLURM_JOB_START_TIME", seconds(batch.started));
    add("SLURM_JOB_END_TIME", seconds(batch.ends));
    add("SLURM_CLUSTER_NAME", cluster);
    if (!job.nodes.empty())
        add("SLURMD_NODENAME", job.nodes.front());
    add_script_step(all);
    add("ENVIRONMENT", "BATCH");
    std::ranges::move(gpu_variables(batch), std::back_inserter(all));
    return all;
}

} // namespace bridge
