// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/batch_end_times.h"

#include "agent/batch/warning.h"
#include "common/base/log.h"
#include "common/contract/batch_names.h"

namespace bridge {

namespace {

// Runs on a worker thread.
void set_end(Slurm &slurm, JobRef job, const Pod &pod, Kube &kube)
{
    auto batch = slurm.load_batch(job);
    if (!batch || !is_allocated(batch->job.state))
        return; // otherwise it may be the time when it ended
    std::string ends = ends_text(batch->ends);
    if (ends == pod.annotation(names::batch_ends_annotation))
        return;
    if (auto said = kube.stamp(pod, {}, {{names::batch_ends_annotation, ends}});
        !said)
        log_warning("cannot write the new end of a batch job onto its Pod",
                    {{"JobId", job.id}, {"err", said.error().message}});
}

} // namespace

void BatchEndTimes::update(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    const PodPtr &pod = gang.pods.front();
    bool runs = pod->living() && !told_to_end(*pod) && gang.job &&
                gang.job->state == JobState::running;
    if (!runs || pod->annotation(names::batch_ends_annotation).empty()) {
        due_.erase(gang.uid);
        return;
    }
    // Due at once: time has passed while the job got its nodes and its Pod.
    Clock::time_point &due =
        due_.try_emplace(gang.uid, context_.now).first->second;
    if (due <= context_.now) {
        due = context_.now + context_.conf->reason_interval;
        errands_.run([job = gang.job->ref, pod](Slurm &slurm, Kube &kube) {
            set_end(slurm, job, *pod, kube);
        });
    }
    agenda_.wake_at(entry, due);
}

} // namespace bridge
