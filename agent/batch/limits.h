// SPDX-License-Identifier: GPL-2.0-or-later
// The limits of a process (ulimit) with which a batch script runs: those of
// sbatch, as PropagateResourceLimits in slurm.conf and --propagate have it.
// sbatch hands them over in its environment; here they are a part of the
// launcher. Pure.
#pragma once

#include "common/contract/batch_script.h"

#include <string>

namespace bridge {

// Lines of a shell, as a POSIX shell's ulimit has them: soft limits, and none
// beyond the container's hard ones, which nobody there may raise.
std::string set_limits(const BatchScript &script);

} // namespace bridge
