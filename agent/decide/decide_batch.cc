// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/decide_batch.h"

#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_mark.h"
#include "agent/gang/batch_place.h"
#include "agent/gang/facts.h"
#include "common/base/wait_status.h"

namespace bridge {

namespace {

// For a Pod whose job is gone, or is its current job and has ended.
Decision without_hope(const Gang &gang)
{
    if (gang.job && is_ended(gang.job->state))
        return FailPods{gang.job->ref, gang.job->state};
    auto mark = batch_mark(*gang.pods.front());
    if (mark && gang.of_batch.gone)
        return FailPods{mark->job, JobState::cancelled};
    return Wait{};
}

// The reason why a job was given up because its Pod could not be bound.
std::string failure_reason(const Gang &gang, const Renew &renew)
{
    if (!gang.bind_overdue || !gang.devices)
        return renew.reason;
    const GangDevices &devices = *gang.devices;
    const std::string &more =
        devices.unfit_reason.empty() ? devices.reason : devices.unfit_reason;
    return more.empty() ? renew.reason : renew.reason + ": " + more;
}

} // namespace

Decision decide_batch(const Gang &gang, Decision decision)
{
    bool runs = is_placed(gang);
    if (runs && !gang.grouped && !gang.stale && is_made_for_others(gang) &&
        gang.job->state != JobState::suspended)
        return Remake{gang.job->ref};
    if (is_kind<Bind>(decision) && gang.unheard)
        return Look{gang.job->ref};
    if (is_kind<Wait>(decision) && runs && !gang.grouped &&
        gang.of_batch.gone && is_worker(*gang.pods.front()))
        return Complete{gang.job->ref, 0, {}};
    if (is_kind<Submit>(decision) || is_kind<LookVolumes>(decision))
        return without_hope(gang);
    if (const auto *refuse = as_kind<Refuse>(decision)) {
        Decision instead = without_hope(gang);
        return is_kind<Wait>(instead) ? Wait{refuse->reason} : instead;
    }
    if (is_kind<Wait>(decision) &&
        !gang.of_batch.start_failure_reason.empty() && runs)
        return Complete{gang.job->ref, exit_1,
                        gang.of_batch.start_failure_reason};
    // A crash took the job's allocation back after its Pod had ended. Ended now
    // it would count as cancelled, so it is completed once it has a node again.
    if (is_kind<Complete>(decision) && gang.job->state == JobState::pending)
        return Wait{};
    if (const auto *renew = as_kind<Renew>(decision)) {
        if (is_ended(gang.job->state))
            return FailPods{gang.job->ref, gang.job->state};
        // What the job requested is its user's decision, as with a native job.
        if (gang.job->state == JobState::pending)
            return Wait{renew->reason};
        return Complete{renew->job, exit_1, failure_reason(gang, *renew)};
    }
    return decision;
}

} // namespace bridge
