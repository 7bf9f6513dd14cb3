// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/batch_pods.h"

#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_place.h"
#include "agent/gang/flags.h"
#include "agent/objects/gang_key.h"
#include "agent/owner/batch_marks.h"
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

void BatchPods::take(const std::vector<Job> &jobs)
{
    living_.clear();
    listed_ = lists_.asked();
    ScriptSweep::Named named{.asked = listed_};
    for (const Job &job : jobs) {
        if (job.tag.script.empty())
            continue;
        (is_ended(job.state) ? named.ended : named.living)
            .insert(job.tag.script);
        if (!is_ended(job.state))
            living_.insert(job.ref);
    }
    scripts_ = named.living;
    tidy_.sweep(std::move(named));
}

void BatchPods::process()
{
    if (tidy_.retry_due() <= context_.now)
        tidy_.retry();
}

void BatchPods::forget(const std::string &uid)
{
    waits_.erase(uid);
    starts_.erase(uid);
    ends_.forget(uid);
    hosts_.forget(uid);
    tidy_.forget(uid);
}

BatchFacts BatchPods::update(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    auto mark = mark_of(gang, *context_.conf);
    if (!mark) {
        waits_.erase(gang.uid);
        return {};
    }
    BatchFacts facts{.start_failure_reason = start_failure_reason(entry)};
    ends_.update(entry);
    hosts_.update(entry);
    facts.scattered = gang.grouped && gang.job &&
                      is_allocated(gang.job->state) && !is_whole(gang) &&
                      is_scattered(gang);
    // A crash took the job's allocation back. Whatever else goes wrong, the
    // script must not run again.
    if (gang.job && gang.job->state == JobState::pending &&
        gang.pods.front()->terminal())
        clean_up(gang);
    if (!gang.job) {
        facts.gone = is_gone(entry, *mark);
        return facts;
    }
    waits_.erase(gang.uid);
    facts.gone = has_lost_script(entry);
    return facts;
}

// Slurm had lost the common job, so this worker has a job of its own.
bool BatchPods::has_lost_script(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (gang.grouped || !is_worker(*gang.pods.front()))
        return false;
    bool lives = script_lives(gangs_, *gang.pods.front());
    if (lives)
        agenda_.wake_at(entry, context_.now + worker_look);
    return !lives;
}

// Handles a Pod that was made for a job and has none: either the tag is about
// to name it, or that job is gone. Only a list of jobs that was requested long
// after can tell.
bool BatchPods::is_gone(GangEntry &entry, const BatchMark &mark)
{
    const Gang &gang = entry.gang;
    auto since = waits_.try_emplace(gang.uid, context_.now).first->second;
    auto due = since + context_.conf->orphan_grace;
    if (context_.now < due) {
        agenda_.wake_at(entry, due);
        return false;
    }
    if (listed_ < due) {
        if (lists_.asked() < due)
            lists_.list_soon();
        return false;
    }
    // A task of an array whose job was lost gets another job, which may take
    // this Pod.
    return mark.array ? !scripts_.contains(mark.script)
                      : !living_.contains(mark.job);
}

// Each Pod of a lost job gets a job of its own. If the agent was killed before
// all had one, and slurmctld still has, or has again, the common job, then the
// Pods that are not in this gang are not gone.
bool BatchPods::is_scattered(const Gang &gang) const
{
    auto mark = mark_of(gang, *context_.conf);
    auto lives = [](const PodPtr &pod) {
        return pod->living() && binder_of(*pod);
    };
    if (!mark || std::ranges::none_of(gang.pods, lives))
        return false;
    return std::ranges::any_of(gangs_.all(), [&](const auto &known) {
        const Gang &other = known.second.gang;
        return !other.grouped && !other.pods.empty() &&
               other.pods.front()->living() &&
               batch_place(*other.pods.front()) &&
               mark_of(other, *context_.conf) == mark;
    });
}

// A kubelet goes on trying what may never work, such as a misspelled image
// name. And if a job has several Pods, one may have been deleted before any was
// bound.
std::string BatchPods::start_failure_reason(GangEntry &entry)
{
    Gang &gang = entry.gang;
    auto stuck = std::ranges::find_if(gang.pods, [](const PodPtr &pod) {
        return pod->living() && !pod->started &&
               !pod->start_failure_reason.empty();
    });
    bool short_of_pods = gang.grouped && gang.job &&
                         gang.job->state == JobState::configuring &&
                         !is_whole(gang);
    if (stuck == gang.pods.end() && !short_of_pods) {
        starts_.erase(gang.uid);
        return {};
    }
    auto due = starts_.try_emplace(gang.uid, context_.now).first->second +
               context_.conf->bind_timeout;
    if (context_.now < due) {
        agenda_.wake_at(entry, due);
        return {};
    }
    if (stuck != gang.pods.end())
        return clean_text((*stuck)->start_failure_reason, max_comment_bytes);
    give_up_binding(gang, "one of its Pods is missing");
    return {};
}

} // namespace bridge
