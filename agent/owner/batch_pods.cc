// SPDX-License-Identifier: GPL-2.0-or-later
// The Pods of batch jobs: to which job they belong, and what is derived from
// them before decide() is asked.
#include "agent/owner/bridge.h"

#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_place.h"
#include "common/kube/text.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::size_t max_comment_bytes =
    900; // bytes; Slurm takes 1024 in a comment
constexpr std::chrono::seconds worker_look{5};

// Returns whether the Pod that runs the script of the worker's job is alive.
bool script_lives(GangStore &gangs, const Pod &worker)
{
    auto place = batch_place(worker);
    auto lives_in = [&](const GangEntry *entry) {
        return entry && place &&
               std::ranges::any_of(entry->gang.pods, [&](const PodPtr &pod) {
                   return pod->uid == place->first && !pod->terminal();
               });
    };
    return (place && lives_in(gangs.find(place->first))) ||
           (worker.gang && lives_in(gangs.find(worker.gang->uid)));
}

} // namespace

// Only Pods in namespaces for batch jobs are trusted; elsewhere users may have
// written the annotation.
std::optional<BatchMark> Bridge::mark_of(const Gang &gang) const
{
    if (gang.pods.empty() || !is_batch_namespace(*context_.conf, gang.key.ns))
        return std::nullopt;
    const Pod &first = *gang.pods.front();
    return gang.grouped && !batch_place(first) ? std::nullopt
                                               : batch_mark(first);
}

// Returns the tags of batch jobs that have bound a Pod, derived from the Pods.
// The Secret of an unbound Pod may not exist yet. A worker that was split from
// the others has a job of its own.
std::map<JobRef, GangTag> Bridge::bound_batch_pods() const
{
    std::map<JobRef, GangTag> tags;
    auto is_bound = [](const PodPtr &pod) {
        return pod->bound() && binder_of(*pod);
    };
    for (const auto &[uid, entry] : gangs_.all()) {
        const Gang &gang = entry.gang;
        auto mark = mark_of(gang);
        if (!mark || std::ranges::none_of(gang.pods, is_bound))
            continue;
        auto place = batch_place(*gang.pods.front());
        if (!gang.grouped && place && place->rank != 0)
            continue;
        GangTag &tag = tags[mark->job];
        tag = {.gang = gang.key.str(), .uid = uid, .script = mark->script};
        if (gang.grouped)
            tag.first =
                place->first.empty() ? gang.pods.front()->uid : place->first;
    }
    return tags;
}

// Handles a Pod that was made for a job and has none: either the tag is about
// to name it, or that job is gone. Only a list of jobs that was requested long
// after can tell.
void Bridge::update_batch(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.batch_gone = false;
    auto mark = mark_of(gang);
    gang.batch = mark.has_value();
    if (gang.batch) {
        update_batch_start(entry);
        update_batch_end(entry);
        update_batch_hosts(entry);
    }
    gang.batch_scattered = gang.batch && gang.grouped && gang.job &&
                           is_allocated(gang.job->state) && !is_whole(gang) &&
                           is_scattered(gang);
    bool worker = mark && is_worker(*gang.pods.front());
    // Failures must be noted before the Pod is deleted. That a Pod is missing
    // is not noted, because a list may have been incomplete.
    if (mark && gang.grouped && gang.job && is_allocated(gang.job->state))
        if (auto end = end_of_batch(gang);
            end && !end->by_user && !end->pod.empty()) {
            gang.failure = end->end;
            gang.failed_pod = end->pod;
        }
    // A crash took the job's allocation back. Whatever else goes wrong, the
    // script must not run again.
    if (mark && gang.job && gang.job->state == JobState::pending &&
        gang.pods.front()->terminal())
        clean_up_batch(gang);
    // Slurm had lost the common job, so this worker has a job of its own.
    if (worker && gang.job && !gang.grouped) {
        gang.batch_gone = !script_lives(gangs_, *gang.pods.front());
        if (!gang.batch_gone)
            agenda_.wake_at(entry, context_.now + worker_look);
    }
    if (!mark || gang.job) {
        batch_waits_.erase(gang.uid);
        return;
    }
    auto since = batch_waits_.try_emplace(gang.uid, context_.now).first->second;
    auto due = since + context_.conf->orphan_grace;
    if (context_.now < due)
        return agenda_.wake_at(entry, due);
    if (batch_listed_ < due) {
        if (lists_.asked() < due)
            lists_.list_soon();
        return;
    }
    // A task of an array whose job was lost gets another job, which may take
    // this Pod.
    gang.batch_gone = mark->array ? !batch_scripts_.contains(mark->script)
                                  : !batch_living_.contains(mark->job);
}

// Each Pod of a lost job gets a job of its own. If the agent was killed before
// all had one, and slurmctld still has, or has again, the common job, then the
// Pods that are not in this gang are not gone.
bool Bridge::is_scattered(const Gang &gang) const
{
    auto mark = mark_of(gang);
    auto lives = [](const PodPtr &pod) {
        return pod->living() && binder_of(*pod);
    };
    if (!mark || std::ranges::none_of(gang.pods, lives))
        return false;
    return std::ranges::any_of(gangs_.all(), [&](const auto &known) {
        const Gang &other = known.second.gang;
        return !other.grouped && !other.pods.empty() &&
               other.pods.front()->living() &&
               batch_place(*other.pods.front()) && mark_of(other) == mark;
    });
}

// A kubelet goes on trying what may never work, such as a misspelled image
// name. And if a job has several Pods, one may have been deleted before any was
// bound.
void Bridge::update_batch_start(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.start_failure_reason.clear();
    auto stuck = std::ranges::find_if(gang.pods, [](const PodPtr &pod) {
        return pod->living() && !pod->started &&
               !pod->start_failure_reason.empty();
    });
    bool short_of_pods = gang.grouped && gang.job &&
                         gang.job->state == JobState::configuring &&
                         !is_whole(gang);
    if (stuck == gang.pods.end() && !short_of_pods) {
        batch_starts_.erase(gang.uid);
        return;
    }
    auto due = batch_starts_.try_emplace(gang.uid, context_.now).first->second +
               context_.conf->bind_timeout;
    if (context_.now < due)
        return agenda_.wake_at(entry, due);
    if (stuck == gang.pods.end())
        gang.bind_overdue = true;
    else
        gang.start_failure_reason =
            clean_text((*stuck)->start_failure_reason, max_comment_bytes);
}

} // namespace bridge
