// SPDX-License-Identifier: GPL-2.0-or-later
// srun --het-group in a heterogeneous job: a step in the Pods of one component,
// which then looks to it like a job of its own. Pure.
#pragma once

#include "cli/srun/srun_options.h"

#include <cstdint>
#include <span>

namespace bridge {

struct HetGroup {
    Environment environment; // with that component's nodes, CPUs and memory
    std::uint32_t first = 0; // rank in the job of its first node
};

// Code::rejected when there is no such component.
Result<HetGroup> het_group(const Environment &environment, std::uint32_t group);

// As parse_srun(), after which the environment is that of the component.
Result<SrunOptions> parse_in_group(std::span<const char *const> arguments,
                                   Environment &environment);

} // namespace bridge
