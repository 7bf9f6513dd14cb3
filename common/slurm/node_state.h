// SPDX-License-Identifier: GPL-2.0-or-later
// The state of a Slurm node (node_state of slurm.h) in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// Returns the base state, then the flags that are set, as Slinky's conditions
// name them: {"Idle", "Drain"}. Flags that they have no name for are left out.
std::vector<std::string> node_state_words(std::uint32_t state);

// Whether jobs run, start or end on it. Suspended jobs do not show in the state
// of their nodes.
bool has_jobs(std::uint32_t state);

// Whether it was created for a slurmd that comes and goes.
bool is_cloud(std::uint32_t state);

} // namespace bridge
