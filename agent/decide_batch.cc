// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide_batch.h"

#include "agent/batch_job.h"

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

Action decide_batch(const Gang &gang, Action action)
{
    if (std::holds_alternative<Submit>(action) ||
        std::holds_alternative<LookVolumes>(action))
        return without_hope(gang);
    if (const auto *refuse = std::get_if<Refuse>(&action)) {
        Action instead = without_hope(gang);
        if (auto *wait = std::get_if<Wait>(&instead))
            wait->why = refuse->why;
        return instead;
    }
    if (std::holds_alternative<Wait>(action) && !gang.cannot_start.empty() &&
        gang.job && is_allocated(gang.job->state))
        return Complete{gang.job->ref, exit_1, gang.cannot_start};
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
