// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image: checks whether a job can run as a Pod. Pure: values
// in, messages for the user out.
#pragma once

#include "common/contract/conf.h"
#include "plugins/job_submit/batch_wish.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// Returns the reason for which this job cannot run as a Pod, if there is one.
// slurm_user: the user as whom slurmctld runs. read_batch_template() must have
// been called for conf.
std::optional<std::string> batch_refusal_reason(const job_desc_msg_t &desc,
                                                const BatchWish &wish,
                                                const Conf &conf,
                                                std::uint32_t slurm_user);

// Returns the reason for which this job array cannot run as Pods, if there is
// one. It depends on BurstBufferType in slurm.conf.
std::optional<std::string>
array_refusal_reason(const job_desc_msg_t &desc,
                     std::string_view burst_buffer_type);

// Returns a message if this many bytes are too many for the Pod's Secret.
std::optional<std::string> size_refusal_reason(std::size_t size,
                                               const Conf &conf);

} // namespace bridge
