// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's job states as ours.
#pragma once

#include "common/slurm/job.h"

#include <cstdint>

namespace bridge {

// Of job_state in Slurm's records, its flags included (enum job_states of
// slurm.h); JobState::unknown for one that is newer than we are.
JobState job_state_of(std::uint32_t state);

} // namespace bridge
