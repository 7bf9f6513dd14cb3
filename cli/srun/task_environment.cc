// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/task_environment.h"

#include "cli/srun/host_names.h"
#include "common/base/text.h"
#include "common/base/variable_name.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace bridge {

namespace {

// Variables of the container: the worker's value overrides srun's.
bool is_of_container(std::string_view name)
{
    constexpr std::string_view names[] = {"HOSTNAME",
                                          "CUDA_VISIBLE_DEVICES",
                                          "GPU_DEVICE_ORDINAL",
                                          "HABANA_VISIBLE_DEVICES",
                                          "HIP_VISIBLE_DEVICES",
                                          "NVIDIA_VISIBLE_DEVICES",
                                          "ROCR_VISIBLE_DEVICES",
                                          "ZE_AFFINITY_MASK",
                                          "SLURM_CPUS_ON_NODE",
                                          "SLURM_GPUS_ON_NODE",
                                          "SLURM_JOB_GPUS",
                                          "SLURM_STEP_GPUS"};
    return std::ranges::contains(names, name);
}

// Variables whose names identify the devices of a container: those of srun's
// container are useless elsewhere.
bool names_device(std::string_view name)
{
    constexpr std::string_view prefixes[] = {"GPU_DEVICE_", "PCIDEVICE_",
                                             "DRA_", "KUBERNETES_"};
    return !is_of_container(name) &&
           std::ranges::any_of(prefixes, [&](std::string_view prefix) {
               return name.starts_with(prefix);
           });
}

// Splits off the next part of --export; a comma in quotes does not separate.
std::string next_export(std::string_view &list)
{
    std::string part;
    char quote = 0;
    std::size_t end = 0;
    for (; end < list.size(); end++) {
        char c = list[end];
        if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? '\0' : c;
            continue;
        }
        if (c == ',' && !quote)
            break;
        part += c;
    }
    list.remove_prefix(std::min(end + 1, list.size()));
    return part;
}

bool is_word(std::string_view text, std::string_view upper)
{
    return std::ranges::equal(text, upper, [](unsigned char a, char b) {
        return std::toupper(a) == b;
    });
}

// Follows _build_user_env() of srun. Variables named in the list override
// others.
Environment exported(const Environment &ours, std::string_view list)
{
    Environment environment, said;
    bool all = false;
    while (!list.empty()) {
        std::string part = next_export(list);
        if (is_word(part, "NONE"))
            break;
        if (is_word(part, "ALL"))
            all = true;
        else if (part.contains('='))
            said.push_back(part);
        else if (const char *value = find_variable(ours, part))
            said.push_back(part + "=" + value);
    }
    for (const std::string &entry : ours)
        if (all || entry.starts_with("SLURM_") || entry.starts_with("SPANK_") ||
            entry.starts_with("SLURMD_"))
            environment.push_back(entry);
    for (const std::string &entry : said)
        set_variable(
            environment, variable_name(entry),
            std::string_view(entry).substr(variable_name(entry).size() + 1));
    return environment;
}

} // namespace

void set_variable(Environment &environment, std::string_view name,
                  std::string_view value)
{
    std::string entry = std::string(name) + "=" + std::string(value);
    auto found = std::ranges::find(environment, name, variable_name);
    if (found == environment.end())
        environment.push_back(std::move(entry));
    else
        *found = std::move(entry);
}

Environment step_environment(const Environment &ours,
                             const SrunOptions &options,
                             const StepVariables &step)
{
    Environment environment =
        options.exported ? exported(ours, *options.exported) : ours;
    auto set = [&](std::string_view name, std::string_view value) {
        set_variable(environment, name, value);
    };
    std::string number = std::to_string(step.step);
    std::string tasks = std::to_string(step.tasks);
    std::string nodes = std::to_string(step.nodes.size());
    std::string list = compress_hosts(step.nodes);
    std::string counts = compress_counts(step.tasks_per_node);
    set("SLURM_STEP_ID", number);
    set("SLURM_STEPID", number);
    set("SLURM_STEP_NODELIST", list);
    set("SLURM_STEP_NUM_NODES", nodes);
    set("SLURM_STEP_NUM_TASKS", tasks);
    set("SLURM_STEP_TASKS_PER_NODE", counts);
    if (!options.preserve_env) {
        set("SLURM_TASKS_PER_NODE", counts);
        set("SLURM_NNODES", nodes);
        set("SLURM_NTASKS", tasks);
        set("SLURM_NPROCS", tasks);
    }
    if (!find_variable(environment, "SLURM_JOB_NODELIST"))
        set("SLURM_JOB_NODELIST", list);
    if (options.request.cpus_per_task > 0)
        set("SLURM_CPUS_PER_TASK",
            std::to_string(options.request.cpus_per_task));
    if (options.label)
        set("SLURM_LABELIO", "1");
    if (!options.job_name.empty())
        set("SLURM_JOB_NAME", options.job_name);
    if (!step.address.empty()) {
        set("SLURM_LAUNCH_NODE_IPADDR", step.address);
        set("SLURM_SRUN_COMM_HOST", step.address);
    }
    return environment;
}

Environment task_environment(const Launch &launch, std::size_t local_id,
                             std::uint32_t pid, const Environment &own)
{
    Environment environment = launch.environment;
    if (!launch.local) {
        std::erase_if(environment, [&](const std::string &entry) {
            return names_device(variable_name(entry));
        });
        for (const std::string &entry : own)
            if (std::string_view name = variable_name(entry);
                name.size() < entry.size() &&
                (is_of_container(name) || names_device(name)))
                set_variable(environment, name,
                             std::string_view(entry).substr(name.size() + 1));
    }
    auto set = [&](std::string_view name, std::string_view value) {
        set_variable(environment, name, value);
    };
    std::string numbers;
    for (TaskId task : launch.tasks)
        numbers += (numbers.empty() ? "" : ",") + std::to_string(task);
    set("SLURM_PROCID", std::to_string(launch.tasks[local_id]));
    set("SLURM_LOCALID", std::to_string(local_id));
    set("SLURM_NODEID", std::to_string(launch.node));
    set("SLURM_GTIDS", numbers);
    set("SLURM_TASK_PID", std::to_string(pid));
    set("SLURMD_NODENAME", launch.node_name);
    if (!find_variable(environment, "TMPDIR"))
        set("TMPDIR", "/tmp");
    return environment;
}

} // namespace bridge
