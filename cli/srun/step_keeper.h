// SPDX-License-Identifier: GPL-2.0-or-later
// The process between srun and the process that serves the step on srun's own
// node. If the latter is killed, this one ends what it leaves behind. srun
// itself may have other children, when a script has become srun with exec;
// these do not belong to the step.
#pragma once

#include "cli/srun/srun_options.h"
#include "common/base/owned_fd.h"

#include <chrono>

namespace bridge {

// How long a keeper lives at most after its server was killed.
inline constexpr auto keeper_time = std::chrono::seconds(5);

// Serves the step in a child process (step_server.h) and ends with it. Call it
// in a process made for this: it closes all descriptors and blocks all signals.
[[noreturn]] void keep_step(OwnedFd peer, const Environment &own);

} // namespace bridge
