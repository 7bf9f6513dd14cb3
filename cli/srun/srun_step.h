// SPDX-License-Identifier: GPL-2.0-or-later
// Runs one step: from srun's options to its exit code.
#pragma once

#include "cli/srun/srun_options.h"

namespace bridge {

// environment is that of this process. Returns the exit code; errors are
// printed on stderr.
int srun(const SrunOptions &options, const Environment &environment);

} // namespace bridge
