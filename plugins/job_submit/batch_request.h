// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image: what is stored of a job for the agent, and what is
// requested from Slurm instead. Pure.
#pragma once

#include "common/contract/batch_script.h"
#include "common/contract/conf.h"
#include "plugins/job_submit/batch_wish.h"

#include <cstddef>
#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// For a job that was not refused. append: JobFileAppend in slurm.conf, for jobs
// that do not say how output files are opened.
BatchScript batch_script(const job_desc_msg_t &desc, const BatchWish &wish,
                         bool append);

// Returns how many bytes the job takes in its Pod's Secret if its text for the
// agent has text bytes. All of it except the script is quoted for the shell
// there.
std::size_t size_in_secret(const BatchScript &batch, std::size_t text);

// Returns a constraint or preference of the job: the user's features, which may
// be empty, joined with ours.
std::string batch_features(const std::string &users, const Conf &conf);

} // namespace bridge
