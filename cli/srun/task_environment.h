// SPDX-License-Identifier: GPL-2.0-or-later
// The variables of a step's tasks: those common to all, and those of each task
// (setup_env() and env_array_for_step() in Slurm's env.c). Pure functions.
#pragma once

#include "cli/srun/launch.h"
#include "cli/srun/srun_options.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// What srun knows of a step, for its tasks.
struct StepVariables {
    std::uint32_t step = 0;
    std::uint32_t tasks = 0;
    std::vector<std::string> nodes;            // names
    std::vector<std::uint32_t> tasks_per_node; // number of tasks on each node
    std::string address; // of srun's own Pod; empty: unknown
};

void set_variable(Environment &environment, std::string_view name,
                  std::string_view value);

// Returns srun's own environment, filtered by --export and similar options,
// with the variables of the step.
Environment step_environment(const Environment &ours,
                             const SrunOptions &options,
                             const StepVariables &step);

// Returns the environment of one task. On a node other than srun's, variables
// that belong to the container, such as the names of its devices, are taken
// from own, the environment of the worker. pid is the task's process id.
Environment task_environment(const Launch &launch, std::size_t local_id,
                             std::uint32_t pid, const Environment &own);

} // namespace bridge
