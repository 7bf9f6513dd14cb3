// SPDX-License-Identifier: GPL-2.0-or-later
// Converts Slurm's job states to ours.
#pragma once

#include "common/slurm/job.h"

#include <cstdint>

namespace bridge {

// state is job_state in Slurm's records, including flags (enum job_states of
// slurm.h). JobState::unknown for a state that this version does not know.
JobState job_state_of(std::uint32_t state);

} // namespace bridge
