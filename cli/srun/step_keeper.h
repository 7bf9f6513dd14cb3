// SPDX-License-Identifier: GPL-2.0-or-later
// The process between srun and the one that serves the step on srun's own node:
// it ends what that leaves behind when it is killed. srun has other children,
// too, when a script has become srun: they are not the step's.
#pragma once

#include "cli/srun/srun_options.h"
#include "common/base/owned_fd.h"

#include <chrono>

namespace bridge {

// How long a keeper lives at most once its server was killed.
inline constexpr auto keeper_time = std::chrono::seconds(5);

// Serves the step in a process of its own (step_server.h), and ends with it.
// Call it in a process made for it: it keeps no descriptor and no signal.
[[noreturn]] void keep_step(OwnedFd peer, const Environment &own);

} // namespace bridge
