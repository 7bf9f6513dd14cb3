// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image: what is kept of a job for the agent, and asked of
// Slurm in its stead. Pure.
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

// For a job that is not refused. append: what slurm.conf says of output files,
// where the job says nothing.
BatchScript batch_script(const job_desc_msg_t &desc, const BatchWish &wish,
                         bool append);

// What a job takes of its Pod's Secret, whose text for job_submit/k8s has that
// many bytes: there the shell reads all but the script.
std::size_t size_in_secret(const BatchScript &batch, std::size_t text);

// The constraint of its nodes, or its preference: what its user says of them,
// which may be nothing, joined with ours.
std::string batch_features(const std::string &users, const Conf &conf);

} // namespace bridge
