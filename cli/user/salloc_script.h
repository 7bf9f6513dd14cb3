// SPDX-License-Identifier: GPL-2.0-or-later
// The two ends of an interactive job, in its container: the batch script, which
// waits for a shell and ends with it, and the command that becomes that shell.
// They meet in the directory of the launcher's pipes (agent/batch/launcher.h),
// which exists in each of sbatch's containers and can be written by the user.
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Returns the batch script, which ends when the shell ends.
std::string salloc_script();

// Returns the command that takes over the job's environment and directory, and
// then becomes the given command, or a shell if there is none. terminal is the
// value for TERM.
std::vector<std::string> salloc_command(const std::vector<std::string> &command,
                                        std::string_view terminal);

} // namespace bridge
