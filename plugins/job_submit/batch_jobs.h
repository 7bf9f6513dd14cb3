// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image inside slurmctld: makes the placeholder of a batch
// job, and writes its script where the agent finds it. slurmctld holds its job
// lock, as when it writes a script of its own.
#pragma once

#include <optional>
#include <span>
#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// What SPANK plugins of the job's command have put into spank_job_env.
std::span<char *> entries_of(job_desc_msg_t &desc);

// Turns the job into an external one without a script, if its spank_job_env has
// our wishes, or its partition has a DefaultImage; any other is left as it is.
// Returns why it cannot be, in words for the user. Looks at each batch job
// whether k8s.conf has changed.
std::optional<std::string> take_batch_job(job_desc_msg_t &desc);

} // namespace bridge
