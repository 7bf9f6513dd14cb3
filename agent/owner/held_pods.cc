// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that are held back until it is known which gang they belong to: all of
// them until the objects that define gangs are listed, later a new Pod that
// names a group of an API that may have come meanwhile.
#include "agent/owner/bridge.h"

#include <utility>

namespace bridge {

// Holds news about Pods back until it is known which gang a Pod belongs to.
template <class PodNews> bool Bridge::postpone_pods(PodNews &news)
{
    if (groups_.settled())
        return false;
    postponed_pods_.emplace_back(std::move(news));
    return true;
}
template bool Bridge::postpone_pods(Listed<Pod> &);
template bool Bridge::postpone_pods(Changed<Pod> &);

// Holds a new Pod back, in its latest state, while its gang is open.
bool Bridge::hold(const Pod &pod)
{
    auto held = held_pods_.find(pod.uid);
    std::map<GroupApi, GroupLooks::Number> looks;
    if (held != held_pods_.end())
        looks = held->second.looks;
    if (!is_open(pod, looks)) {
        forget_held(pod.uid);
        return false;
    }
    bool first = held == held_pods_.end()
                     ? listed_schedulers_.size() < scheduler_count_
                     : held->second.in_first_list;
    if (held == held_pods_.end() && first)
        held_first_++;
    held_pods_.insert_or_assign(pod.uid, HeldPod{pod, std::move(looks), first});
    return true;
}

void Bridge::forget_held(const std::string &uid)
{
    auto held = held_pods_.find(uid);
    if (held == held_pods_.end())
        return;
    held_first_ -= held->second.in_first_list;
    held_pods_.erase(held);
}

// The same for the Pods of this scheduler name that a list does not have.
void Bridge::forget_held_but(const std::string &scheduler,
                             const std::unordered_set<std::string> &keep)
{
    std::vector<std::string> gone;
    for (const auto &[uid, held] : held_pods_)
        if (held.pod.scheduler_name == scheduler && !keep.contains(uid))
            gone.push_back(uid);
    for (const std::string &uid : gone) {
        group_reports_.remove(uid, context_.now);
        forget_held(uid);
    }
}

// Whether it is unknown to which gang a new Pod belongs: it names a group of an
// API that was absent, and nobody has looked since. Requests that look. looks:
// those that were requested for this Pod.
bool Bridge::is_open(const Pod &pod,
                     std::map<GroupApi, GroupLooks::Number> &looks)
{
    if (!context_.ports.look_for_groups || pod.bound() || gangs_.knows(pod))
        return false;
    bool open = false;
    for (GroupApi api : groups_.absent_before(pod)) {
        if (!context_.ports.access.may(feature_of(api)))
            continue;
        auto [look, is_new] = looks.try_emplace(api);
        if (is_new)
            look->second = context_.ports.look_for_groups(api);
        open = open || answered_looks_[api] < look->second;
    }
    return open;
}

void Bridge::release_held()
{
    std::vector<Pod> ready;
    for (auto &[uid, held] : held_pods_)
        if (!is_open(held.pod, held.looks))
            ready.push_back(held.pod);
    for (Pod &pod : ready) {
        Changed<Pod> news{std::move(pod), false};
        on(news);
    }
}

// A Pod that is known keeps its gang, whatever has become of the API meanwhile.
GangKeyPtr Bridge::gang_of(const Pod &pod) const
{
    if (auto known = gangs_.group_of(pod))
        for (GangKeyPtr key = pod.gang; key; key = key->otherwise)
            if (key->uid == *known)
                return key;
    return groups_.choose_gang(pod);
}

} // namespace bridge
