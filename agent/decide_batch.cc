// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide_batch.h"

#include "agent/batch_job.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr int exit_1 = 1 << 8; // as wait(2) gives it

// The job that it was made for is gone, or is its current one and has ended.
Action without_hope(const Gang &gang)
{
    if (gang.job && is_ended(gang.job->state))
        return FailPods{gang.job->ref, gang.job->state};
    auto mark = batch_mark(*gang.pods.front());
    if (mark && gang.batch_gone)
        return FailPods{mark->job, JobState::cancelled};
    return Wait{};
}

} // namespace

bool is_batch(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [](const PodPtr &pod) {
        return batch_mark(*pod).has_value();
    });
}

Action decide_batch(const Gang &gang, Action action)
{
    if (std::holds_alternative<Submit>(action) ||
        std::holds_alternative<LookVolumes>(action))
        return without_hope(gang);
    if (std::holds_alternative<Refuse>(action))
        return Wait{};
    // A crash took its allocation back, too late: ended now it would count as
    // cancelled, so it ends once it has a node again.
    if (std::holds_alternative<Complete>(action) &&
        gang.job->state == JobState::pending)
        return Wait{};
    if (const auto *renew = std::get_if<Renew>(&action)) {
        if (is_ended(gang.job->state))
            return FailPods{gang.job->ref, gang.job->state};
        return Complete{renew->job, exit_1, renew->why};
    }
    return action;
}

} // namespace bridge
