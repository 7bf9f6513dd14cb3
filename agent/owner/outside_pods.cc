// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/outside_pods.h"

#include "agent/gang/gang.h"
#include "agent/nodes/words.h"

#include <utility>

namespace bridge {

namespace {

bool bound_by_others(const Pod &pod)
{
    return pod.living() && !binder_of(pod);
}

} // namespace

void OutsidePods::replace(std::vector<ForeignPod> pods)
{
    for (ForeignPod &pod : pods)
        judge_worker(pod, context_.conf->worker_namespaces);
    // Earlier syncs did not know what other Pods use, even if there are none.
    bool first = !std::exchange(listed_, true);
    if (!foreign_.replace(pods).empty() || first)
        sync_.sync_now();
}

void OutsidePods::put(ForeignPod pod, bool deleted)
{
    if (deleted)
        pod.node.clear();
    judge_worker(pod, context_.conf->worker_namespaces);
    for (const std::string &node : foreign_.put(pod))
        if (nodes_.is_slurms(node))
            sync_.sync_now();
}

void OutsidePods::note(const Pod &pod, bool deleted)
{
    bool stray = !deleted && bound_by_others(pod);
    ForeignPod taken{pod.uid, stray ? pod.node_name : "",
                     amounts_of(pod.requests), true};
    if (!strays_.put(taken).empty())
        sync_.sync_now();
}

std::optional<std::map<std::string, Amounts>> OutsidePods::taken() const
{
    if (!listed_)
        return std::nullopt;
    std::map<std::string, Amounts> by_node;
    for (const auto &[name, node] : nodes_.all()) {
        if (!is_opted_in(*node))
            continue;
        Amounts amounts = foreign_.on(name);
        amounts += strays_.on(name);
        if (amounts != Amounts{})
            by_node.emplace(name, std::move(amounts));
    }
    return by_node;
}

std::size_t OutsidePods::count() const
{
    auto is_ours = [this](const std::string &node) {
        return nodes_.is_slurms(node);
    };
    return foreign_.count_outside_queue(is_ours) +
           strays_.count_outside_queue(is_ours);
}

} // namespace bridge
