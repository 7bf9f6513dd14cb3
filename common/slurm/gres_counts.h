// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of GRES: what tasks request, and for how many tasks a node's share of
// a job is enough. Pure.
#pragma once

#include "common/slurm/job.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Counts by GRES ("gpu") and also by type ("gpu:a100").
using GresCounts = std::map<std::string, std::uint64_t>;

// Parses a request such as "gres/gpu:a100:2,gres/nic:1". TRES that are not GRES
// are ignored.
GresCounts asked_gres(std::string_view text);

// Returns for how many tasks the GRES on one node are enough; no_task_limit if
// the tasks need none.
std::uint64_t tasks_covered(const std::vector<JobGres> &has,
                            const GresCounts &by_task);
inline constexpr std::uint64_t no_task_limit = UINT64_MAX;

// Tells whether details of the job's GRES have to be loaded before they can be
// used.
inline bool has_unread_gres(const Job &job)
{
    return (job.devices || !job.gres_per_task.empty()) && !job.gres_read;
}

} // namespace bridge
