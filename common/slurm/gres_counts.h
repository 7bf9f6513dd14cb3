// SPDX-License-Identifier: GPL-2.0-or-later
// GRES as they are counted: what tasks ask for, and how many of these tasks a
// node's share of a job suffices for. Pure.
#pragma once

#include "common/slurm/job.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// How many of each GRES, by "gpu", and of each type of it, by "gpu:a100".
using GresCounts = std::map<std::string, std::uint64_t>;

// What is asked for, such as "gres/gpu:a100:2,gres/nic:1"; TRES that are no
// GRES are left out.
GresCounts asked_gres(std::string_view text);

// So many tasks, each of which needs that much, have enough of the GRES of one
// node; of no GRES: no_task_limit.
std::uint64_t tasks_covered(const std::vector<JobGres> &has,
                            const GresCounts &by_task);
inline constexpr std::uint64_t no_task_limit = UINT64_MAX;

// What of the job must be looked up before anything is made of its GRES.
inline bool has_unread_gres(const Job &job)
{
    return (job.devices || !job.gres_per_task.empty()) && !job.gres_read;
}

} // namespace bridge
