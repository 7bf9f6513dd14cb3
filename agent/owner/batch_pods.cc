// SPDX-License-Identifier: GPL-2.0-or-later
// The Pods of batch jobs: whose they are, and what is known of them before
// anything is decided.
#include "agent/owner/bridge.h"

#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_place.h"
#include "common/kube/text.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::size_t max_words = 900; // bytes; Slurm takes 1024 in a comment
constexpr std::chrono::seconds worker_look{5};

// The Pod that runs the script of the job for which the worker was made.
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

// Elsewhere users may have written it.
std::optional<BatchMark> Bridge::mark_of(const Gang &gang) const
{
    if (gang.pods.empty() || !is_batch_namespace(*conf_, gang.key.ns))
        return std::nullopt;
    const Pod &first = *gang.pods.front();
    return gang.grouped && !batch_place(first) ? std::nullopt
                                               : batch_mark(first);
}

// The tags of batch jobs that have bound a Pod, as those say. Of one that is
// not bound the Secret may not be there yet. A worker that was split from the
// others has a job of its own.
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

// A Pod that was made for a job, and has none: either the tag is about to name
// it, or that job is gone. Only a list that was made long after tells.
void Bridge::note_batch(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.batch_gone = false;
    auto mark = mark_of(gang);
    gang.batch = mark.has_value();
    if (gang.batch) {
        note_batch_start(entry);
        note_batch_end(entry);
        note_batch_hosts(entry);
    }
    gang.batch_scattered = gang.batch && gang.grouped && gang.job &&
                           is_allocated(gang.job->state) && !is_whole(gang) &&
                           is_scattered(gang);
    bool worker = mark && is_worker(*gang.pods.front());
    // Seen before the Pod was deleted. That one is missing is not kept: a list
    // may have lacked it.
    if (mark && gang.grouped && gang.job && is_allocated(gang.job->state))
        if (auto end = end_of_batch(gang);
            end && !end->by_user && !end->pod.empty()) {
            gang.failure = end->end;
            gang.failed_pod = end->pod;
        }
    // A crash took its allocation back: whatever else goes wrong, it must not
    // run again.
    if (mark && gang.job && gang.job->state == JobState::pending &&
        gang.pods.front()->terminal())
        tidy_batch(gang);
    // Slurm had lost the job of all: this one has a job of its own.
    if (worker && gang.job && !gang.grouped) {
        gang.batch_gone = !script_lives(gangs_, *gang.pods.front());
        if (!gang.batch_gone)
            wake_at(entry, now_ + worker_look);
    }
    if (!mark || gang.job) {
        batch_waits_.erase(gang.uid);
        return;
    }
    auto since = batch_waits_.try_emplace(gang.uid, now_).first->second;
    auto due = since + conf_->orphan_grace;
    if (now_ < due)
        return wake_at(entry, due);
    if (batch_listed_ < due) {
        if (jobs_asked_ < due)
            list_jobs_soon();
        return;
    }
    // The task of an array gets another job where its own was lost, and may
    // take this Pod.
    gang.batch_gone = mark->array ? !batch_scripts_.contains(mark->script)
                                  : !batch_living_.contains(mark->job);
}

// Of a lost job's Pods each gets a job of its own. Where the agent was killed
// before all had one, and slurmctld still has, or has again, that of all of
// them, those that are not there are not gone.
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

// A kubelet goes on trying what may never work, such as an image's name with a
// typing error; and of several Pods one may have been deleted before any was
// bound.
void Bridge::note_batch_start(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.cannot_start.clear();
    auto stuck = std::ranges::find_if(gang.pods, [](const PodPtr &pod) {
        return pod->living() && !pod->started && !pod->cannot_start.empty();
    });
    bool short_of_pods = gang.grouped && gang.job &&
                         gang.job->state == JobState::configuring &&
                         !is_whole(gang);
    if (stuck == gang.pods.end() && !short_of_pods) {
        batch_starts_.erase(gang.uid);
        return;
    }
    auto due = batch_starts_.try_emplace(gang.uid, now_).first->second +
               conf_->bind_timeout;
    if (now_ < due)
        return wake_at(entry, due);
    if (stuck == gang.pods.end())
        gang.bind_overdue = true;
    else
        gang.cannot_start = clean_text((*stuck)->cannot_start, max_words);
}

} // namespace bridge
