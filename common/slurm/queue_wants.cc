// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/queue_wants.h"

#include "common/slurm/reasons.h"

#include <algorithm>
#include <ranges>

namespace bridge {

namespace {

auto names_in(std::string_view partitions)
{
    return partitions | std::views::split(',') |
           std::views::transform(
               [](auto &&name) { return std::string_view(name); });
}

} // namespace

void QueueWants::add(const QueuedJob &job)
{
    if (!wants_nodes(job.reason))
        return;
    for (std::string_view name : names_in(job.partitions)) {
        auto [known, added] = highest_.emplace(name, job.priority);
        if (!added)
            known->second = std::max(known->second, job.priority);
    }
}

bool QueueWants::has(const QueuedJob &job) const
{
    if (wants_nodes(job.reason))
        return true;
    if (job.reason != "Priority")
        return false;
    return std::ranges::any_of(
        names_in(job.partitions), [&](std::string_view name) {
            auto first = highest_.find(name);
            return first != highest_.end() && first->second >= job.priority;
        });
}

} // namespace bridge
