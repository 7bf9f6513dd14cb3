// SPDX-License-Identifier: GPL-2.0-or-later
// The shell script that a batch job's container runs. It sets up the
// environment, changes to the working directory and starts the batch script.
// Where there are output files, the output goes to the files as well as to the
// container's log. The image must have sh and env. Output files also need
// mkfifo, tee and cat; without these the output goes to the files instead of
// the log. Pure functions.
#pragma once

#include "common/contract/batch_script.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct BatchUser;

// Quotes any text as one word of a POSIX shell.
std::string shell_word(std::string_view text);

// Adds HOME, SHELL, USER and LOGNAME where sbatch did not hand them over
// because of --export=NONE or a list. sbatch then asks slurmd to load the
// user's login environment (SLURM_GET_USER_ENV=1), which is not possible here.
void add_login(BatchScript &script, const BatchUser &user);

// Where stdout or stderr of the script goes besides the container's log.
struct BatchOutput {
    std::string path;   // patterns are already expanded; empty: log only
    bool asked = false; // requested by the user: the job fails without it
};

// Returns the launcher. The script's exit code becomes the container's exit
// code, and signals sent to the container reach the script. variables are
// NAME=VALUE. input is the file that the script reads, with its patterns
// expanded; empty means none. path is a directory to put in front of PATH;
// empty means none.
std::string batch_launcher(const BatchScript &script,
                           const std::vector<std::string> &variables,
                           const BatchOutput &output, const BatchOutput &error,
                           const std::string &input = {},
                           const std::string &path = {});

// The exit code of a container that could not open the requested files. Slurm
// reports that as signal 53, by which no process can die.
inline constexpr int no_output_exit = 53;

} // namespace bridge
