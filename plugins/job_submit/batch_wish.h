// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image: what the user requests. Pure: values in, messages
// for the user out. All values come from users and are checked here, even if
// spank/k8s has checked them before.
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
    std::string image; // empty: that of the partition
    std::vector<std::string> variables{};
    std::vector<std::string> volumes{}; // without duplicates
    std::string service_account{};
    std::string name_space{};

    bool operator==(const BatchWish &) const = default;
};

// Reads spank_job_env. Returns nothing for a job without such a request; the
// error is a message for the user.
std::expected<std::optional<BatchWish>, std::string>
batch_wish(std::span<char *const> spank_job_env);

// Tells whether batch_wish() reads this entry, or whether it is Slurm's own
// copy of our options.
bool is_batch_entry(const char *entry);

// Adds the DefaultImage of the partition to the request of a batch job, if it
// has no image of its own. All other requests are returned unchanged. The error
// is a message for the user: the partitions of the job have different images.
// default_partition: used for jobs that name none.
std::expected<std::optional<BatchWish>, std::string>
with_default_image(std::optional<BatchWish> wish, const job_desc_msg_t &desc,
                   const Conf &conf, const std::string &default_partition);

} // namespace bridge
