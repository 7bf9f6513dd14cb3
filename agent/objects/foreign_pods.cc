// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/foreign_pods.h"

#include "agent/objects/extended_resources.h"
#include "agent/objects/owner_reference.h"
#include "agent/objects/pod_requests.h"

#include <algorithm>

namespace bridge {

namespace {

// More than any Node has, and so little that the sum of 60,000 Pods does not
// overflow. Users write any amount, and then the Node has no room in any case.
constexpr std::int64_t most_memory = std::int64_t{1} << 47; // bytes
constexpr std::int64_t most_cpu = std::int64_t{1} << 40;    // thousandths
constexpr std::int64_t most_devices = 1'000'000'000;

} // namespace

// Sums cannot overflow: amounts_of() limits what each Pod adds.
Amounts &Amounts::operator+=(const Amounts &more)
{
    cpu += more.cpu;
    memory += more.memory;
    for (const auto &[resource, count] : more.devices)
        devices[resource] += count;
    unsized_workers += more.unsized_workers;
    return *this;
}

Amounts &Amounts::operator-=(const Amounts &part)
{
    cpu.value -= part.cpu.value;
    memory.value -= part.memory.value;
    for (const auto &[resource, count] : part.devices)
        if (auto known = devices.find(resource); known != devices.end())
            known->second -= count;
    std::erase_if(devices, [](const auto &one) { return one.second <= 0; });
    unsized_workers -= part.unsized_workers;
    return *this;
}

Amounts amounts_of(const Requests &asks)
{
    Amounts amounts{MilliCpu{std::min(asks.cpu.value, most_cpu)},
                    Bytes{std::min(asks.memory.value, most_memory)}};
    for (const auto &[resource, count] : asks.others)
        if (count > 0 && is_extended_resource(resource))
            amounts.devices[resource] = std::min(count, most_devices);
    return amounts;
}

ForeignPod foreign_pod_from(const Json &object)
{
    ForeignPod pod;
    pod.uid = object.text("metadata/uid");
    std::string phase = object.text("status/phase");
    if (phase == "Succeeded" || phase == "Failed")
        return pod;
    pod.node = object.text("spec/nodeName");
    pod.asks = amounts_of(pod_requests(object).requests);
    pod.outside_queue = could_queue(object);
    if (has_node_set(object.at("metadata")))
        pod.worker_namespace = object.text("metadata/namespace");
    return pod;
}

void judge_worker(ForeignPod &pod, const std::vector<std::string> &namespaces)
{
    if (pod.worker_namespace.empty() ||
        !std::ranges::contains(namespaces, pod.worker_namespace))
        return;
    pod.outside_queue = false;
    pod.asks.unsized_workers =
        pod.asks.cpu.value == 0 || pod.asks.memory.value == 0;
}

std::string foreign_selector(const std::vector<std::string> &scheduler_names)
{
    std::string selector =
        "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
    for (const std::string &name : scheduler_names)
        selector += ",spec.schedulerName!=" + name;
    return selector;
}

bool could_queue(const Json &pod)
{
    for (const Json &owner : pod.items("metadata/ownerReferences"))
        if (owner.text("kind") == "DaemonSet" &&
            owner.text("apiVersion").starts_with("apps/") &&
            owner.flag("controller"))
            return false;
    return !pod.at("metadata/annotations")
                .member("kubernetes.io/config.mirror")
                .present();
}

Amounts less(const Requests &has, const Amounts &taken)
{
    auto rest = [](std::int64_t all, std::int64_t part) {
        return std::max<std::int64_t>(0, all - part);
    };
    return {MilliCpu{rest(has.cpu.value, taken.cpu.value)},
            Bytes{rest(has.memory.value, taken.memory.value)}};
}

Requests without_devices(Requests has, const Amounts &taken)
{
    for (const auto &[resource, count] : taken.devices)
        if (auto known = has.others.find(resource); known != has.others.end())
            known->second = std::max<std::int64_t>(0, known->second - count);
    return has;
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
    auto *node =
        pod.node.empty() ? nullptr : &*sums_.try_emplace(pod.node).first;
    if (auto known = pods_.find(pod.uid); known != pods_.end()) {
        auto &[old_node, asks, outside_queue] = known->second;
        outside_queue = pod.outside_queue;
        if (node == old_node && asks == pod.asks)
            return changed;
        old_node->second -= asks;
        changed.insert(old_node->first);
        pods_.erase(known);
    }
    if (!node)
        return changed;
    node->second += pod.asks;
    pods_[pod.uid] = {node, pod.asks, pod.outside_queue};
    changed.insert(pod.node);
    return changed;
}

std::size_t ForeignPods::count_outside_queue(
    const std::function<bool(const std::string &node)> &is_ours) const
{
    std::size_t count = 0;
    for (const auto &[uid, entry] : pods_)
        count += entry.outside_queue && is_ours(entry.node->first);
    return count;
}

Amounts ForeignPods::on(const std::string &node) const
{
    auto known = sums_.find(node);
    return known == sums_.end() ? Amounts{} : known->second;
}

} // namespace bridge
