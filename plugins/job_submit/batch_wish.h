// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image: what is asked. Pure: values in, sentences for the
// user out. All of it is what users write, also where spank/k8s has looked at
// it already.
#pragma once

#include "common/contract/conf.h"

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

struct BatchWish {
    std::string image; // empty: its partition's
    std::vector<std::string> variables{};
    std::vector<std::string> volumes{}; // each once
    std::string service_account{};
    std::string name_space{};

    bool operator==(const BatchWish &) const = default;
};

// From spank_job_env. Nothing for a job that has no wish of this kind; a
// sentence for one that is not understood.
std::expected<std::optional<BatchWish>, std::string>
batch_wish(std::span<char *const> spank_job_env);

// Whether the entry is one of those that batch_wish() reads, or Slurm's own
// copy of them.
bool is_batch_entry(const char *entry);

// The wish of a batch job whose partition has a DefaultImage, with that, if it
// has no image of its own. Anything else comes back as it is; a sentence for a
// job whose partitions differ in this. default_partition: of jobs that name
// none.
std::expected<std::optional<BatchWish>, std::string>
with_default_image(std::optional<BatchWish> wish, const job_desc_msg_t &desc,
                   const Conf &conf, const std::string &default_partition);

} // namespace bridge
