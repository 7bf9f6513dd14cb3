// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands of slurmk8s, one file each. Each function returns the exit
// status.
#pragma once

#include "common/contract/conf.h"

#include <string>
#include <vector>

namespace bridge {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1; // no answer, or the agent does not serve
inline constexpr int exit_wrong_call = 2;
inline constexpr int exit_unknown = 3; // no such Pod or job

// Prints whether the agent serves, its problems, and every gang.
int show_status(const Conf &conf, bool json);

// Prints the story of one gang. what is the name of a Pod, NAMESPACE/NAME, or a
// JobId.
int explain(const Conf &conf, const std::string &what, bool json);

// Prints what is wrong or will cause trouble in Slurm's settings, in Kubernetes
// and on this host. Works without a running agent. The exit status is that of
// verdict() (cli/check/finding.h).
int check(const std::string &conf_path, bool json);

// Prints the output of a job's container; with follow, until the container
// ends.
int show_logs(const std::string &conf_path, const std::string &job,
              bool follow);

// Runs a command, or a shell, in the container of a job, with our stdin, stdout
// and terminal. Returns the command's exit status, or 255 when the connection
// to slurmk8sd was lost.
int attach(const std::string &conf_path, const std::string &job,
           std::vector<std::string> command);

// Submits a job with sbatch's options and does the same in its container. The
// job ends with the command.
int salloc(const std::string &conf_path,
           const std::vector<std::string> &options,
           const std::vector<std::string> &command);

// Prints an error message on stderr and returns exit_status.
int print_error(const std::string &what, int exit_status = exit_failed);

} // namespace bridge
