// SPDX-License-Identifier: GPL-2.0-or-later
// The environment variables that tell the container of a job array's task about
// its array. Pure functions.
#pragma once

#include "agent/gang/batch_mark.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Returns the SLURM_ARRAY_… variables as documented in sbatch(1), each as
// NAME=VALUE. array is the argument of --array, which slurmctld has accepted.
// When array cannot be parsed, the variables that count the tasks (TASK_COUNT,
// TASK_MIN, TASK_MAX, TASK_STEP) are left out.
std::vector<std::string> array_variables(const ArrayTask &task,
                                         std::string_view array);

} // namespace bridge
