// SPDX-License-Identifier: GPL-2.0-or-later
// Resource limits of a step's tasks: the soft limits of srun on all nodes, as
// with PropagateResourceLimits=ALL in Slurm. The processes that start and serve
// tasks need more open files than the tasks.
#pragma once

#include <cstdint>
#include <vector>

namespace bridge {

// Returns the soft limits of this process, in an order that all Pods of a job
// share because they have the same program.
std::vector<std::uint64_t> soft_limits();

// Sets these limits in this process, none above its own hard limit.
void set_soft_limits(const std::vector<std::uint64_t> &limits);

// Allows this process as many open files as its hard limit permits.
void raise_open_files();

} // namespace bridge
