// SPDX-License-Identifier: GPL-2.0-or-later
// Resource limits of a step's tasks: srun's soft ones on all nodes, as with
// Slurm's PropagateResourceLimits=ALL. What starts and serves tasks needs more
// open files than they do.
#pragma once

#include <cstdint>
#include <vector>

namespace bridge {

// The soft limits of this process, in an order that all Pods of a job share:
// they have one program.
std::vector<std::uint64_t> soft_limits();

// Makes them this process's, none above its own hard limit.
void set_soft_limits(const std::vector<std::uint64_t> &limits);

// As many as this process may have.
void raise_open_files();

} // namespace bridge
