// SPDX-License-Identifier: GPL-2.0-or-later
// srun --het-group in a heterogeneous job: a step in the Pods of one component,
// to which that component looks like a job of its own. Pure functions.
#pragma once

#include "cli/srun/srun_options.h"

#include <cstdint>
#include <span>

namespace bridge {

struct HetGroup {
    Environment environment; // with that component's nodes, CPUs and memory
    std::uint32_t first = 0; // rank in the job of its first node
};

// Returns the environment of that component. Code::rejected when there is no
// such component.
Result<HetGroup> het_group(const Environment &environment, std::uint32_t group);

// Like parse_srun(); changes environment to that of the chosen component.
Result<SrunOptions> parse_in_group(std::span<const char *const> arguments,
                                   Environment &environment);

} // namespace bridge
