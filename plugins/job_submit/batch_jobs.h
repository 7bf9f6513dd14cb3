// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image, inside slurmctld: turns a batch job into a
// placeholder job, and writes its script where the agent finds it. slurmctld
// holds its job lock during the calls, as it does when it writes a script of
// its own.
#pragma once

#include <optional>
#include <span>
#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// Returns spank_job_env: the entries that SPANK plugins of the submitting
// command have set.
std::span<char *> entries_of(job_desc_msg_t &desc);

// Turns the job into an external one without a script, if its spank_job_env has
// our options or its partition has a DefaultImage; any other job is left
// unchanged. Returns the reason of a refusal as a message for the user, or
// nothing. Reads k8s.conf again if it has changed.
std::optional<std::string> convert_batch_job(job_desc_msg_t &desc);

} // namespace bridge
