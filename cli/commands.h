// SPDX-License-Identifier: GPL-2.0-or-later
// The subcommands of slurmk8s: one file each. Each returns the exit status.
#pragma once

#include "common/contract/conf.h"

#include <string>
#include <vector>

namespace bridge {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1; // no answer, or the agent does not serve
inline constexpr int exit_wrong_call = 2;
inline constexpr int exit_unknown = 3; // no such Pod or job

// Whether the agent serves, what is wrong, and every gang.
int show_status(const Conf &conf, bool json);

// what: the name of a Pod, NAMESPACE/NAME, or a JobId.
int explain(const Conf &conf, const std::string &what, bool json);

// What is wrong, or will bite, in Slurm's settings, in Kubernetes and on this
// host. The exit status is verdict()'s (cli/check/finding.h), whether the agent
// runs or not.
int check(const std::string &conf_path, bool json);

// What the container of a job has printed; follow: until it ends.
int show_logs(const std::string &conf_path, const std::string &job,
              bool follow);

// A command in its container, or a shell: with our stdin, stdout and terminal.
// The exit status is the command's, 255 when slurmk8sd was lost.
int attach(const std::string &conf_path, const std::string &job,
           std::vector<std::string> command);

// The same in a job of its own, of sbatch's options, which ends with it.
int salloc(const std::string &conf_path,
           const std::vector<std::string> &options,
           const std::vector<std::string> &command);

// Says on stderr what went wrong.
int complain(const std::string &what, int exit_status = exit_failed);

} // namespace bridge
