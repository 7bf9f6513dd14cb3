// SPDX-License-Identifier: GPL-2.0-or-later
// One step: from what was asked for to srun's exit code.
#pragma once

#include "cli/srun/srun_options.h"

namespace bridge {

// environment: of this process. The exit code; what is wrong is said on stderr.
int srun(const SrunOptions &options, const Environment &environment);

} // namespace bridge
