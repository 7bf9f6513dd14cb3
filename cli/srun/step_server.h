// SPDX-License-Identifier: GPL-2.0-or-later
// Runs one node's tasks of one step, as slurmstepd does on nodes with slurmd: a
// process of its own, which has the tasks and their orphans as children. One
// thread, which sleeps in poll().
#pragma once

#include "cli/srun/srun_options.h"
#include "common/base/owned_fd.h"

namespace bridge {

// Serves the srun at the other end of the socket, which has proved that it may.
// Returns when no task is alive any more. When srun is gone, or this process
// gets SIGTERM, the tasks get SIGTERM, and SIGKILL after KillWait. Call it in a
// process made for this: it takes over the signals and all orphans.
void serve_step(OwnedFd peer, const Environment &own);

} // namespace bridge
