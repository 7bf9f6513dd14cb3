// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/shadows.h"

namespace bridge {

void Shadows::take(const std::vector<JobRef> &jobs)
{
    std::set<JobRef> known(jobs.begin(), jobs.end());
    for (JobRef job : known)
        if (!jobs_.contains(job))
            line_.send({.type = HookMessage::Type::start, .job = job});
    jobs_ = std::move(known);
}

bool Shadows::release(JobRef job) const
{
    if (!jobs_.contains(job))
        return false;
    line_.send({.type = HookMessage::Type::start, .job = job});
    return true;
}

} // namespace bridge
