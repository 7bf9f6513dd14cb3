// SPDX-License-Identifier: GPL-2.0-or-later
// What a batch job's container runs: a shell script that makes the script's
// environment, goes to its directory and starts it, and, where there are output
// files, writes these besides the container's log. The image must have sh and
// env; for files mkfifo, tee and cat too, else they are written instead of the
// log. Pure.
#pragma once

#include "common/contract/batch_script.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct BatchUser;

// One word of a shell, whatever is in it.
std::string shell_word(std::string_view text);

// What sbatch hands over with --export=NONE, or a list, lacks: slurmd would
// load the user's login environment then, as sbatch asks it to.
void add_login(BatchScript &script, const BatchUser &user);

// What follows the script's name has been looked up and expanded.
struct BatchOutput {
    std::string path;   // empty: the log alone
    bool asked = false; // by the user: without it the job fails
};

// The script stays the process whose exit code is the container's; and that
// gets the signals which the container gets. input: the file that the script
// reads, looked up and expanded; empty: none. path: a directory that PATH
// begins with; empty: none.
std::string batch_launcher(const BatchScript &script,
                           const std::vector<std::string> &variables,
                           const BatchOutput &output, const BatchOutput &error,
                           const std::string &input = {},
                           const std::string &path = {});

// The exit code of a container that could not open the files asked for: Slurm's
// own for that is signal 53, which no process dies of.
inline constexpr int no_output_exit = 53;

} // namespace bridge
