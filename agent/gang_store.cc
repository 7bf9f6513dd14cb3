// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang_store.h"

#include "common/names.h"

#include <algorithm>

namespace bridge {

namespace {

// A Pod alone is its own gang.
const std::string &gang_uid(const Pod &pod)
{
    return pod.uid;
}

} // namespace

std::string GangStore::put(Pod pod)
{
    std::string uid = gang_uid(pod);
    GangEntry &entry = gangs_[uid];
    Gang &gang = entry.gang;
    gang.uid = uid;
    gang.key = pod.key;
    entry.orphan_since.reset();
    if (pod.bound())
        gang.assumed_bound = false;
    auto same = std::ranges::find_if(
        gang.pods, [&](const PodPtr &known) { return known->uid == pod.uid; });
    auto latest = std::make_shared<const Pod>(std::move(pod));
    if (same != gang.pods.end())
        *same = std::move(latest);
    else
        gang.pods.push_back(std::move(latest));
    return uid;
}

std::optional<std::string> GangStore::remove(const Pod &pod)
{
    GangEntry *entry = find(gang_uid(pod));
    if (!entry)
        return std::nullopt;
    std::erase_if(entry->gang.pods, [&](const PodPtr &known) {
        return known->uid == pod.uid;
    });
    if (entry->gang.pods.empty())
        entry->gang.assumed_bound = false;
    return entry->gang.uid;
}

std::vector<Pod>
GangStore::missing(const std::string &scheduler,
                   const std::unordered_set<std::string> &keep) const
{
    std::vector<Pod> gone;
    for (const auto &[uid, entry] : gangs_)
        for (const PodPtr &pod : entry.gang.pods)
            if (pod->scheduler_name == scheduler && !keep.contains(pod->uid))
                gone.push_back(*pod);
    return gone;
}

GangEntry *GangStore::find(const std::string &uid)
{
    auto found = gangs_.find(uid);
    return found == gangs_.end() ? nullptr : &found->second;
}

GangEntry *GangStore::find(JobRef job)
{
    auto uid = by_job_.find(job.id);
    if (uid == by_job_.end())
        return nullptr;
    GangEntry *entry = find(uid->second);
    bool same = entry && entry->gang.job && entry->gang.job->ref == job;
    return same ? entry : nullptr;
}

GangEntry &GangStore::adopt(const GangTag &tag)
{
    GangEntry &entry = gangs_[tag.uid];
    entry.gang.uid = tag.uid;
    std::size_t slash = tag.gang.find('/');
    if (slash != std::string::npos)
        entry.gang.key = {tag.gang.substr(0, slash),
                          tag.gang.substr(slash + 1)};
    entry.orphan_since = Clock::now();
    return entry;
}

void GangStore::set_job(GangEntry &entry, std::optional<Job> job)
{
    Gang &gang = entry.gang;
    bool other = !job || !gang.job || gang.job->ref != job->ref;
    if (gang.job && other) {
        auto index = by_job_.find(gang.job->ref.id);
        if (index != by_job_.end() && index->second == gang.uid)
            by_job_.erase(index);
        gang.prolog_held = gang.epilog_held = false;
    }
    if (other) {
        gang.stale = false;
        entry.job_since = Clock::now();
    }
    gang.job = std::move(job);
    if (gang.job)
        by_job_[gang.job->ref.id] = gang.uid;
}

void GangStore::erase(const std::string &uid)
{
    GangEntry *entry = find(uid);
    if (!entry)
        return;
    set_job(*entry, std::nullopt);
    gangs_.erase(uid);
}

bool GangStore::living_of(Sluid sluid) const
{
    std::string text = sluid.str();
    for (const auto &[uid, entry] : gangs_) {
        const Gang &gang = entry.gang;
        bool assumed = gang.assumed_bound && gang.job &&
                       gang.job->ref.sluid == sluid && !gang.pods.empty();
        if (assumed ||
            std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
                return pod->bound() && !pod->terminal() &&
                       pod->annotation(names::sluid_annotation) == text;
            }))
            return true;
    }
    return false;
}

} // namespace bridge
