// SPDX-License-Identifier: GPL-2.0-or-later
// The main process of those Pods of a job that do not run the script: waits for
// srun, and starts a process for each step (step_server.h).
#pragma once

#include <string>

namespace bridge {

// Listens at the address, or at all addresses if it is empty, until SIGTERM;
// then ends its steps. Returns the exit code.
int run_worker(const std::string &address);

} // namespace bridge
