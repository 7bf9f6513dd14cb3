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
    gang.unseen = false;
    if (pod.bound())
        gang.assumed_bound = gang.maybe_bound = false;
    auto same = std::ranges::find_if(
        gang.pods, [&](const PodPtr &known) { return known->uid == pod.uid; });
    auto latest = std::make_shared<const Pod>(std::move(pod));
    if (same != gang.pods.end()) {
        unindex(**same);
        *same = latest;
    } else {
        gang.pods.push_back(latest);
    }
    index(*latest);
    return uid;
}

std::optional<std::string> GangStore::remove(const Pod &pod)
{
    GangEntry *entry = find(gang_uid(pod));
    if (!entry)
        return std::nullopt;
    std::erase_if(entry->gang.pods, [&](const PodPtr &known) {
        if (known->uid != pod.uid)
            return false;
        unindex(*known);
        return true;
    });
    if (entry->gang.pods.empty())
        entry->gang.assumed_bound = entry->gang.maybe_bound = false;
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
    entry.gang.unseen = true;
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
        gang.prolog_held = gang.epilog_held = gang.node_down = false;
    }
    if (other) {
        gang.stale = gang.bind_overdue = false;
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
    for (const PodPtr &pod : entry->gang.pods)
        unindex(*pod);
    gangs_.erase(uid);
}

bool GangStore::living_of(JobRef job) const
{
    if (by_sluid_.contains(job.sluid.str()))
        return true;
    auto uid = by_job_.find(job.id);
    if (uid == by_job_.end())
        return false;
    const Gang &gang = gangs_.at(uid->second).gang;
    return gang.job->ref == job && !gang.pods.empty() &&
           (gang.assumed_bound || gang.maybe_bound);
}

const std::set<std::string> &
GangStore::living_on(const std::string &node) const
{
    static const std::set<std::string> nobody;
    auto found = by_node_.find(node);
    return found == by_node_.end() ? nobody : found->second;
}

void GangStore::index(const Pod &pod)
{
    if (!pod.bound() || pod.terminal())
        return;
    by_node_[pod.node_name].insert(gang_uid(pod));
    if (std::string sluid = pod.annotation(names::sluid_annotation);
        !sluid.empty())
        by_sluid_[sluid]++;
}

void GangStore::unindex(const Pod &pod)
{
    if (!pod.bound() || pod.terminal())
        return;
    freed_.insert(pod.node_name);
    auto node = by_node_.find(pod.node_name);
    if (node != by_node_.end() && node->second.erase(gang_uid(pod)) != 0 &&
        node->second.empty())
        by_node_.erase(node);
    auto sluid = by_sluid_.find(pod.annotation(names::sluid_annotation));
    if (sluid != by_sluid_.end() && --sluid->second == 0)
        by_sluid_.erase(sluid);
}

} // namespace bridge
