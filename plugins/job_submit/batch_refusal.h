// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image: whether it can be had. Pure: values in, sentences
// for the user out.
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

// Why this job cannot run as a Pod, if so. slurm_user: whom slurmctld runs as.
// conf has read its template.
std::optional<std::string> refuse_batch(const job_desc_msg_t &desc,
                                        const BatchWish &wish, const Conf &conf,
                                        std::uint32_t slurm_user);

// Why it cannot run as Pods, if so: by slurm.conf's BurstBufferType.
std::optional<std::string> refuse_array(const job_desc_msg_t &desc,
                                        std::string_view burst_buffer_type);

// Why so many bytes in its Pod's Secret are too many, if so.
std::optional<std::string> refuse_size(std::size_t size, const Conf &conf);

} // namespace bridge
