// SPDX-License-Identifier: GPL-2.0-or-later
// The resource limits (ulimit) of a batch script. They are the limits of
// sbatch, as selected by PropagateResourceLimits in slurm.conf and by
// --propagate. sbatch hands them over in its environment; here they become a
// part of the launcher. Pure functions.
#pragma once

#include "common/contract/batch_script.h"

#include <string>

namespace bridge {

// Returns shell lines that set the soft limits with the ulimit of a POSIX
// shell. None is set above the container's hard limit, which nothing in the
// container may raise.
std::string set_limits(const BatchScript &script);

} // namespace bridge
