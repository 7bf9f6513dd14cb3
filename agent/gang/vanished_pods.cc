// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/vanished_pods.h"

#include "agent/gang/facts.h"

#include <algorithm>

namespace bridge {

// A kubelet counts the grace period anew when it was shortened. A deletion by
// force says 0, which is no grace period: see end_of().
void VanishedPods::note(const Pod &pod, Clock::time_point now)
{
    if (auto on_node = gone_.find(pod.node_name);
        on_node != gone_.end() && on_node->second.erase(pod.uid) != 0 &&
        on_node->second.empty())
        gone_.erase(on_node); // a list was wrong: the object is still there
    if (!pod.living() || !pod.deleting) {
        deletions_.erase(pod.uid);
        return;
    }
    std::chrono::seconds grace = pod.deletion_grace.value_or(pod.grace_period);
    if (grace.count() == 0)
        return;
    auto [known, is_new] =
        deletions_.try_emplace(pod.uid, Deletion{now, grace});
    if (!is_new && known->second.grace != grace)
        known->second = {now, grace};
}

bool VanishedPods::record_gone(const Pod &last, std::uint32_t cpus,
                               Clock::time_point now)
{
    bool lives = last.living();
    auto binder = binder_of(last);
    if (lives)
        gone_[last.node_name][last.uid] = {
            last.key, binder ? binder->id : 0, last.requests,
            cpus,     uses_devices(last),      end_of(last, now)};
    deletions_.erase(last.uid);
    return lives;
}

// A kubelet that sees the deletion by force goes on with what it has noted if
// that is the Pod's own grace period. Otherwise it begins anew, with the Pod's
// own: also if the agent had shortened it.
Clock::time_point VanishedPods::end_of(const Pod &pod,
                                       Clock::time_point now) const
{
    auto own = std::max(pod.grace_period, std::chrono::seconds(1));
    Clock::time_point anew = now + own;
    auto known = deletions_.find(pod.uid);
    if (known == deletions_.end())
        return anew + vanished_margin;
    Clock::time_point rest = known->second.since + known->second.grace;
    if (known->second.grace != own)
        rest = std::max(rest, anew);
    return std::max(rest, now) + vanished_margin;
}

std::set<std::string> VanishedPods::drop_over(Clock::time_point now)
{
    std::set<std::string> nodes;
    for (auto &[node, pods] : gone_)
        if (std::erase_if(pods, [&](const auto &pod) {
                return pod.second.until <= now;
            }) != 0)
            nodes.insert(node);
    std::erase_if(gone_, [](const auto &node) { return node.second.empty(); });
    return nodes;
}

Clock::time_point VanishedPods::next_end() const
{
    auto next = Clock::time_point::max();
    for (const auto &[node, pods] : gone_)
        for (const auto &[uid, pod] : pods)
            next = std::min(next, pod.until);
    return next;
}

std::size_t VanishedPods::count() const
{
    std::size_t all = 0;
    for (const auto &[node, pods] : gone_)
        all += pods.size();
    return all;
}

std::vector<VanishedPod> VanishedPods::on(const std::string &node) const
{
    std::vector<VanishedPod> there;
    if (auto known = gone_.find(node); known != gone_.end())
        for (const auto &[uid, pod] : known->second)
            there.push_back(pod);
    return there;
}

} // namespace bridge
