// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/held_pods.h"

#include <utility>

namespace bridge {

bool HeldPods::hold(const Pod &pod, bool first)
{
    auto held = held_.find(pod.uid);
    Looks looks;
    if (held != held_.end()) {
        looks = held->second.looks;
        first = held->second.in_first_list;
    }
    if (!is_open(pod, looks)) {
        forget(pod.uid);
        return false;
    }
    if (held == held_.end() && first)
        first_++;
    held_.insert_or_assign(pod.uid, Held{pod, std::move(looks), first});
    return true;
}

void HeldPods::forget(const std::string &uid)
{
    auto held = held_.find(uid);
    if (held == held_.end())
        return;
    first_ -= held->second.in_first_list;
    held_.erase(held);
}

std::vector<std::string>
HeldPods::forget_but(const std::string &scheduler,
                     const std::unordered_set<std::string> &keep)
{
    std::vector<std::string> gone;
    for (const auto &[uid, held] : held_)
        if (held.pod.scheduler_name == scheduler && !keep.contains(uid))
            gone.push_back(uid);
    for (const std::string &uid : gone)
        forget(uid);
    return gone;
}

// Whether it is unknown to which gang a new Pod belongs: it names a group of an
// API that was absent, and nobody has looked since. Requests that look. looks:
// those that were requested for this Pod.
bool HeldPods::is_open(const Pod &pod, Looks &looks)
{
    const BridgePorts &ports = context_.ports;
    if (!ports.look_for_groups || pod.bound() || gangs_.knows(pod))
        return false;
    bool open = false;
    for (GroupApi api : groups_.absent_before(pod)) {
        if (!ports.access.may(feature_of(api)))
            continue;
        auto [look, is_new] = looks.try_emplace(api);
        if (is_new)
            look->second = ports.look_for_groups(api);
        open = open || answered_[api] < look->second;
    }
    return open;
}

std::vector<Pod> HeldPods::ready()
{
    std::vector<Pod> ready;
    for (auto &[uid, held] : held_)
        if (!is_open(held.pod, held.looks))
            ready.push_back(held.pod);
    return ready;
}

} // namespace bridge
