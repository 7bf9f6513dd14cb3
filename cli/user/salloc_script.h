// SPDX-License-Identifier: GPL-2.0-or-later
// The two ends of an interactive job, in its container: the batch script, which
// waits for a shell and ends with it, and the command that becomes the shell.
// They meet in the directory of the launcher's pipes (agent/batch/launcher.h),
// which each of sbatch's containers has and its user may write. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Ends when the shell does.
std::string salloc_script();

// Takes the job's environment and directory over; then it is the command, or a
// shell when that is empty.
std::vector<std::string> salloc_command(const std::vector<std::string> &command,
                                        std::string_view terminal);

} // namespace bridge
