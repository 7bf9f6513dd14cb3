// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/store.h"

#include "agent/objects/gang_key.h"
#include "common/contract/names.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

void forget_binding(Gang &gang, const Pod &pod)
{
    gang.assumed_bound.erase(pod.uid);
    gang.maybe_bound.erase(pod.uid);
}

} // namespace

// A Pod stays in the gang in which it was first seen, because users may change
// its labels at any time.
const std::string &GangStore::gang_uid(const Pod &pod) const
{
    if (auto member = members_.find(pod.uid); member != members_.end())
        return member->second;
    auto alone = gangs_.find(pod.uid);
    bool known = alone != gangs_.end() && !alone->second.gang.pods.empty();
    return pod.gang && !known ? pod.gang->uid : pod.uid;
}

bool GangStore::knows(const Pod &pod) const
{
    return pods_.contains(pod.uid);
}

std::optional<std::string> GangStore::group_of(const Pod &pod) const
{
    auto member = members_.find(pod.uid);
    return member == members_.end() || member->second == pod.uid
               ? std::nullopt
               : std::optional(member->second);
}

std::string GangStore::put(Pod pod)
{
    std::string uid = gang_uid(pod);
    GangEntry &entry = gangs_[uid];
    Gang &gang = entry.gang;
    gang.uid = uid;
    gang.grouped = uid != pod.uid;
    if (!gang.grouped)
        gang.key = pod.key;
    else if (members_.try_emplace(pod.uid, uid).second)
        gang.key = {pod.key.ns, pod.gang->name};
    entry.orphan_since.reset();
    gang.unseen = gang.unseen && gang.grouped; // it may be another member's Pod
    if (pod.bound())
        forget_binding(gang, pod);
    auto same = std::ranges::find_if(
        gang.pods, [&](const PodPtr &known) { return known->uid == pod.uid; });
    if (same != gang.pods.end())
        pod.arrived = (*same)->arrived;
    auto latest = std::make_shared<const Pod>(std::move(pod));
    if (same != gang.pods.end()) {
        unindex(**same);
        *same = latest;
    } else {
        auto after = [](const PodPtr &a, const PodPtr &b) {
            return ranks_before(*a, *b);
        };
        auto place = std::ranges::upper_bound(gang.pods, latest, after);
        gang.pods.insert(place, latest);
    }
    index(latest);
    return uid;
}

std::string GangStore::split(const std::string &pod)
{
    auto member = members_.find(pod);
    if (member == members_.end() || member->second == pod)
        return {};
    GangEntry *entry = find(member->second);
    if (!entry)
        return {};
    auto there =
        std::ranges::find_if(entry->gang.pods, [&](const PodPtr &known) {
            return known->uid == pod;
        });
    if (there == entry->gang.pods.end())
        return {};
    // It outlives its place in the gang.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    PodPtr kept = *there;
    unindex(*kept);
    entry->gang.pods.erase(there);
    forget_binding(entry->gang, *kept);
    member->second = pod;
    return put(*kept);
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
    forget_binding(entry->gang, pod);
    members_.erase(pod.uid);
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

PodPtr GangStore::find(const Pod &pod) const
{
    auto known = pods_.find(pod.uid);
    return known == pods_.end() ? nullptr : known->second;
}

PodPtr GangStore::find_in(const std::string &gang, const std::string &pod) const
{
    auto known = pods_.find(pod);
    bool there = known != pods_.end() && gang_uid(*known->second) == gang;
    return there ? known->second : nullptr;
}

GangEntry *GangStore::find(JobRef job)
{
    auto uid = by_job_.find(job.id);
    if (uid == by_job_.end())
        return nullptr;
    GangEntry *entry = find(uid->second);
    bool same = entry && entry->gang.job && covers(*entry->gang.job, job);
    return same ? entry : nullptr;
}

GangEntry &GangStore::create_for_job(const GangTag &tag, Clock::time_point now)
{
    GangEntry &entry = gangs_[tag.uid];
    entry.gang.uid = tag.uid;
    std::size_t slash = tag.gang.find('/');
    if (slash != std::string::npos)
        entry.gang.key = {tag.gang.substr(0, slash),
                          tag.gang.substr(slash + 1)};
    entry.gang.grouped = !tag.first.empty();
    entry.gang.unseen = true;
    entry.orphan_since = now;
    return entry;
}

void GangStore::set_job(GangEntry &entry, std::optional<Job> job,
                        Clock::time_point now)
{
    Gang &gang = entry.gang;
    bool other = !job || !gang.job || gang.job->ref != job->ref;
    unindex_counted(gang);
    if (gang.job && other) {
        unindex_job(gang);
        gang.prolog_held = gang.epilog_held = gang.node_down = false;
    }
    if (other) {
        gang.stale = gang.bind_overdue = false;
        gang.times.short_overdue = gang.times.rejoin_over = false;
        gang.failure.reset();
        entry.job_since = now;
    }
    gang.job = std::move(job);
    if (gang.job)
        for (JobRef ref : refs_of(*gang.job))
            by_job_[ref.id] = gang.uid;
    index_counted(gang);
}

void GangStore::unindex_job(const Gang &gang)
{
    if (!gang.job)
        return;
    for (JobRef ref : refs_of(*gang.job))
        if (auto index = by_job_.find(ref.id);
            index != by_job_.end() && index->second == gang.uid)
            by_job_.erase(index);
}

void GangStore::erase(const std::string &uid)
{
    GangEntry *entry = find(uid);
    if (!entry)
        return;
    unindex_counted(entry->gang);
    unindex_job(entry->gang);
    for (const PodPtr &pod : entry->gang.pods) {
        unindex(*pod);
        members_.erase(pod->uid);
    }
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
    return covers(*gang.job, job) && !gang.pods.empty() &&
           !(gang.assumed_bound.empty() && gang.maybe_bound.empty());
}

const GangStore::PodsByGang &GangStore::living_on(const std::string &node) const
{
    static const PodsByGang nobody;
    auto found = by_node_.find(node);
    return found == by_node_.end() ? nobody : found->second;
}

std::vector<std::string> GangStore::users_of(const ObjectKey &claim) const
{
    auto found = by_claim_.find(claim);
    std::vector<std::string> uids;
    if (found != by_claim_.end())
        for (const auto &[uid, pods] : found->second)
            uids.push_back(uid);
    return uids;
}

std::vector<std::string> GangStore::counters_of(const ObjectKey &claim) const
{
    auto found = by_counted_.find(claim);
    if (found == by_counted_.end())
        return {};
    return {found->second.begin(), found->second.end()};
}

void GangStore::index_counted(const Gang &gang)
{
    if (gang.job)
        for (const std::string &name : gang.job->tag.claims)
            by_counted_[{gang.key.ns, name}].insert(gang.uid);
}

void GangStore::unindex_counted(const Gang &gang)
{
    if (!gang.job)
        return;
    for (const std::string &name : gang.job->tag.claims) {
        auto claim = by_counted_.find({gang.key.ns, name});
        if (claim != by_counted_.end() && claim->second.erase(gang.uid) != 0 &&
            claim->second.empty())
            by_counted_.erase(claim);
    }
}

void GangStore::index_claims(const Pod &pod)
{
    if (pod.terminal())
        return;
    for (const PodClaim &one : pod.resource_claims)
        if (one.from_template.empty() && !one.claim.empty())
            by_claim_[{pod.key.ns, one.claim}][gang_uid(pod)]++;
}

void GangStore::unindex_claims(const Pod &pod)
{
    if (pod.terminal())
        return;
    for (const PodClaim &one : pod.resource_claims) {
        auto claim = by_claim_.find({pod.key.ns, one.claim});
        if (!one.from_template.empty() || claim == by_claim_.end())
            continue;
        auto gang = claim->second.find(gang_uid(pod));
        if (gang != claim->second.end() && --gang->second == 0)
            claim->second.erase(gang);
        if (claim->second.empty())
            by_claim_.erase(claim);
    }
}

void GangStore::index(const PodPtr &pod)
{
    pods_[pod->uid] = pod;
    index_claims(*pod);
    if (!pod->bound() || pod->terminal())
        return;
    by_node_[pod->node_name][gang_uid(*pod)].push_back(pod);
    if (std::string sluid = pod->annotation(names::sluid_annotation);
        !sluid.empty())
        by_sluid_[sluid]++;
}

void GangStore::unindex_node(const Pod &pod)
{
    auto node = by_node_.find(pod.node_name);
    if (node == by_node_.end())
        return;
    auto gang = node->second.find(gang_uid(pod));
    if (gang == node->second.end())
        return;
    std::erase_if(gang->second,
                  [&](const PodPtr &known) { return known->uid == pod.uid; });
    if (gang->second.empty())
        node->second.erase(gang);
    if (node->second.empty())
        by_node_.erase(node);
}

void GangStore::unindex(const Pod &pod)
{
    unindex_claims(pod);
    pods_.erase(pod.uid);
    if (!pod.bound() || pod.terminal())
        return;
    freed_.insert(pod.node_name);
    unindex_node(pod);
    auto sluid = by_sluid_.find(pod.annotation(names::sluid_annotation));
    if (sluid != by_sluid_.end() && --sluid->second == 0)
        by_sluid_.erase(sluid);
}

} // namespace bridge
