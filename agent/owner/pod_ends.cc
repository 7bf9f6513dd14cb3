// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/pod_ends.h"

#include "agent/decide/batch_gang.h"
#include "agent/decide/end_status.h"
#include "agent/decide/gang_place.h"
#include "agent/gang/facts.h"

#include <algorithm>
#include <functional>

namespace bridge {

namespace {

// Notes the failure of Pods that ended by themselves. When a Pod fails, its
// controller deletes the others, and then the Pod itself.
void record_failed_pod(Gang &gang)
{
    auto known = std::ranges::find_if(gang.pods, [&](const PodPtr &pod) {
        return pod->uid == gang.failed_pod;
    });
    if (gang.failure && (known == gang.pods.end() || (*known)->deleting))
        return;
    gang.failure.reset();
    auto has_failed = [](const PodPtr &pod) {
        return pod->phase == "Failed" && !pod->deleting;
    };
    if (std::ranges::none_of(gang.pods, has_failed))
        return;
    Gang failed = gang;
    failed.pods = last_of_job(gang);
    std::erase_if(failed.pods, std::not_fn(has_failed));
    if (failed.pods.empty())
        return;
    gang.failure = end_of(failed);
    gang.failed_pod = failed.pods.front()->uid;
}

// Notes the end now, because the Pod may be deleted before slurmctld takes its
// end.
void record_end(Gang &gang)
{
    auto ended = [&](const PodPtr &pod) {
        return ended_by_job(gang, *pod) && !pod->deleting;
    };
    if (std::ranges::any_of(gang.pods, ended))
        gang.failure = end_of(gang);
}

// That a Pod is missing is not noted, because a list may have been incomplete.
void record_batch_end(Gang &gang)
{
    auto end = end_of_batch(gang);
    if (!end || end->by_user || end->pod.empty())
        return;
    gang.failure = end->end;
    gang.failed_pod = end->pod;
}

} // namespace

void record_ends(Gang &gang)
{
    if (!gang.job || !is_allocated(gang.job->state))
        return;
    if (!gang.grouped)
        record_end(gang);
    else if (gang.batch)
        record_batch_end(gang);
    else
        record_failed_pod(gang);
}

} // namespace bridge
