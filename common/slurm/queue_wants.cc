// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/queue_wants.h"

#include "common/base/text.h"
#include "common/slurm/reasons.h"

#include <algorithm>

namespace bridge {

void QueueWants::add(const QueuedJob &job)
{
    if (!wants_nodes(job.reason))
        return;
    for (std::string_view name : all_parts(job.partitions, ',')) {
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
        all_parts(job.partitions, ','), [&](std::string_view name) {
            auto first = highest_.find(name);
            return first != highest_.end() && first->second >= job.priority;
        });
}

} // namespace bridge
