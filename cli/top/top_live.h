// SPDX-License-Identifier: GPL-2.0-or-later
// The live view of slurmk8s top.
#pragma once

#include "common/contract/conf.h"

#include <chrono>

namespace bridge {

// Shows Slurm until the user presses q or Ctrl-C, until a signal, or until the
// terminal is gone, which is then as it was before. Ends the program, with the
// exit status of what was shown last.
[[noreturn]] void show_top_live(const Conf &conf, std::chrono::seconds pause);

} // namespace bridge
