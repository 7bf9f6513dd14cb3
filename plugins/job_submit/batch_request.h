// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image: what is asked, whether it can be had, and what is
// kept of it for the agent. Pure: values in, sentences for the user out. All of
// it is what users write, also where spank/k8s has looked at it already.
#pragma once

#include "common/batch_script.h"
#include "common/conf.h"

#include <expected>
#include <optional>
#include <span>
#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

struct BatchWish {
    std::string image;

    bool operator==(const BatchWish &) const = default;
};

// From spank_job_env. Nothing for a job that has no wish of this kind; a
// sentence for one that is not understood.
std::expected<std::optional<BatchWish>, std::string>
batch_wish(std::span<char *const> spank_job_env);

// Whether the entry is one of those that batch_wish() reads, or Slurm's own copy
// of them.
bool is_batch_entry(const char *entry);

// Why this job cannot run as a Pod, if so. slurm_user: whom slurmctld runs as.
std::optional<std::string> refuse_batch(const job_desc_msg_t &desc,
                                        const Conf &conf,
                                        std::uint32_t slurm_user);

// For a job that is not refused.
BatchScript batch_script(const job_desc_msg_t &desc, const BatchWish &wish);

// Why its text is too long, if so; in bytes.
std::optional<std::string> refuse_size(std::size_t size, const Conf &conf);

// The constraint of its nodes.
std::string batch_features();

} // namespace bridge
