// SPDX-License-Identifier: GPL-2.0-or-later
// What the container of an array's task is told of its array. Pure.
#pragma once

#include "agent/gang/batch_mark.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// SLURM_ARRAY_… as sbatch(1) has them. array: what --array said, which
// slurmctld has taken; of what is not understood the numbers of tasks are left
// out.
std::vector<std::string> array_variables(const ArrayTask &task,
                                         std::string_view array);

} // namespace bridge
