// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/remake.h"

#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_place.h"
#include "agent/gang/facts.h"

#include <utility>
#include <vector>

namespace bridge {

bool is_told_of_others(const Gang &gang, const Job &now)
{
    const std::optional<Job> &known = gang.job;
    bool alone =
        gang.batch && !gang.grouped && known && !known->tag.script.empty();
    bool has_place = is_allocated(now.state) || now.state == JobState::pending;
    return alone && has_place && is_allocated(known->state) &&
           known->nodes != now.nodes && any_waits(gang) &&
           !any_lives_by_job(gang);
}

Result<Outcome> remove_tag(const Gang &gang, const Job &now, Slurm &slurm)
{
    GangTag without_pod;
    without_pod.script = gang.job->tag.script;
    without_pod.components = gang.job->tag.components;
    if (now.tag.uid.empty() && now.tag.script == without_pod.script)
        return Done{};
    if (auto said = slurm.set_tag(gang.job->ref, without_pod); !said)
        return std::unexpected(said.error());
    return Done{};
}

// Pods that were created for other nodes are found by name, and deleted, when
// the Pods are created again.
Result<Outcome> delete_workers(const Gang &gang, Slurm &slurm, Kube &kube)
{
    auto job = slurm.load(gang.job->ref);
    if (!job)
        return std::unexpected(job.error());
    if (!is_allocated(job->state) || job->nodes != gang.job->nodes)
        return Looked{std::move(*job)};
    std::vector<PodPtr> workers = gang.pods;
    std::erase_if(workers, [&](const PodPtr &pod) {
        return !is_worker(*pod) || !lives_by_job(gang, *pod) || pod->deleting;
    });
    // The script may run by now although no watch shows it yet.
    if (PodPtr script = script_pod_of(gang); script && !workers.empty()) {
        auto now = kube.get_pod(script->key);
        if (!now && now.error().code != Code::not_found)
            return std::unexpected(now.error());
        if (now && (now->bound() || now->terminal() || now->uid != script->uid))
            return StillThere{std::move(*now)};
    }
    for (const PodPtr &pod : workers)
        if (auto gone = kube.delete_pod(*pod); !gone)
            return std::unexpected(gone.error());
    return remove_tag(gang, *job, slurm);
}

} // namespace bridge
