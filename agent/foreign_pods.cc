// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/foreign_pods.h"

#include "agent/pod_requests.h"

#include <algorithm>

namespace bridge {

ForeignPod foreign_pod_from(const Json &object)
{
    ForeignPod pod;
    pod.uid = object.text("metadata/uid");
    std::string phase = object.text("status/phase");
    if (phase == "Succeeded" || phase == "Failed")
        return pod;
    pod.node = object.text("spec/nodeName");
    Requests asks = pod_requests(object).requests;
    pod.asks = {asks.cpu, asks.memory};
    return pod;
}

Amounts less(const Requests &has, const Amounts &taken)
{
    auto rest = [](std::int64_t all, std::int64_t part) {
        return std::max<std::int64_t>(0, all - part);
    };
    return {MilliCpu{rest(has.cpu.value, taken.cpu.value)},
            Bytes{rest(has.memory.value, taken.memory.value)}};
}

std::set<std::string> ForeignPods::replace(const std::vector<ForeignPod> &pods)
{
    auto before = sums_;
    for (auto &[node, sum] : sums_)
        sum = {};
    pods_.clear();
    for (const ForeignPod &pod : pods)
        put(pod);
    std::set<std::string> changed;
    for (const auto &[node, sum] : sums_)
        if (auto old = before.find(node);
            sum != (old == before.end() ? Amounts{} : old->second))
            changed.insert(node);
    return changed;
}

std::set<std::string> ForeignPods::put(const ForeignPod &pod)
{
    std::set<std::string> changed;
    auto *node = pod.node.empty()
                     ? nullptr
                     : &*sums_.try_emplace(pod.node).first;
    if (auto known = pods_.find(pod.uid); known != pods_.end()) {
        const auto &[old_node, asks] = known->second;
        if (node == old_node && asks == pod.asks)
            return changed;
        old_node->second.cpu.value -= asks.cpu.value;
        old_node->second.memory.value -= asks.memory.value;
        changed.insert(old_node->first);
        pods_.erase(known);
    }
    if (!node)
        return changed;
    node->second.cpu += pod.asks.cpu;
    node->second.memory += pod.asks.memory;
    pods_[pod.uid] = {node, pod.asks};
    changed.insert(pod.node);
    return changed;
}

Amounts ForeignPods::on(const std::string &node) const
{
    auto known = sums_.find(node);
    return known == sums_.end() ? Amounts{} : known->second;
}

} // namespace bridge
