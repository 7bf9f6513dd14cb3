// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/places.h"

#include "common/contract/names.h"
#include "common/contract/worker_names.h"
#include "operator/decide/node_fit.h"
#include "operator/decide/scale.h"

#include <algorithm>
#include <utility>

namespace bridge::slinky {

namespace {

const KubeNode *find_node(const Known &known, const std::string &name)
{
    auto found = known.nodes.find({"", name});
    return found == known.nodes.end() ? nullptr : &found->second;
}

using ByName = std::map<std::string, const Worker *>;

// The Pod of this NodeSet for the slot, if it is there.
const Worker *pod_for(const ByName &workers, const Slot &slot)
{
    auto found = workers.find(slot.pod);
    bool fits = found != workers.end() && (found->second->node.empty() ||
                                           found->second->node == slot.node);
    return fits ? found->second : nullptr;
}

// Another NodeSet of the cluster has a Slurm node of this name.
bool is_taken(const Known &known, const NodeSet &set, const std::string &host)
{
    return std::ranges::any_of(known.workers, [&](const auto &entry) {
        const Meta &meta = entry.second.meta;
        auto label = [&](const char *name) {
            auto found = meta.labels.find(name);
            return found == meta.labels.end() ? "" : found->second;
        };
        return meta.key.ns == set.meta.key.ns &&
               meta.controller != set.meta.uid &&
               label(names::cluster_label) == set.controller &&
               label(names::worker_hostname_label) == host;
    });
}

std::string wrong_slot(const Known &known, const NodeSet &set, const Slot &slot)
{
    if (!is_host_label(slot.host) || !is_host_label(slot.pod))
        return "\"" + slot.pod + "\" is longer than a name may be, or not one";
    if (is_taken(known, set, slot.host))
        return "another NodeSet has a Slurm node " + slot.host;
    return {};
}

void take(DaemonPlaces &places, const std::vector<Slot> &same,
          const ByName &workers)
{
    const Slot *chosen = same.size() == 1 ? &same[0] : nullptr;
    for (const Slot &slot : same) // who is bound there stays
        if (const Worker *there = pod_for(workers, slot);
            there && there->node == slot.node)
            chosen = &slot;
    for (const Slot &slot : same)
        if (&slot != chosen)
            places.refused.push_back("Node " + slot.node +
                                     ": another one has the host name " +
                                     slot.host);
    if (chosen)
        places.slots.emplace(chosen->pod, *chosen);
}

} // namespace

DaemonPlaces daemon_places(const Known &known, const NodeSet &set,
                           const std::vector<const Worker *> &workers)
{
    DaemonPlaces places;
    if (!set.daemon_set)
        return places;
    ByName by_name;
    for (const Worker *worker : workers)
        by_name[worker->meta.key.name] = worker;
    std::map<std::string, std::vector<Slot>> by_pod;
    for (const auto &[key, node] : known.nodes) {
        Slot slot = slot_of(set, node);
        places.mapped.insert(slot.pod);
        NodeFit fit = fit_of(set, node);
        bool is_there = pod_for(by_name, slot) != nullptr;
        bool comes = fit.comes && !node.meta.deleting;
        if (!comes && !(fit.stays && is_there))
            continue;
        std::string problem =
            is_there ? std::string() : wrong_slot(known, set, slot);
        if (problem.empty())
            by_pod[slot.pod].push_back(std::move(slot));
        else
            places.refused.push_back("Node " + key.name + ": " + problem);
    }
    for (const auto &[pod, same] : by_pod)
        take(places, same, by_name);
    return places;
}

Pins pins_of(const Known &known, const NodeSet &set,
             const std::vector<const Worker *> &workers)
{
    if (!set.spec.flag("pinToNode") || set.daemon_set)
        return {};
    Pins pins = set.status.texts("ordinalToNode");
    for (const Worker *worker : workers) {
        auto ordinal = ordinal_of(set, worker->meta.key.name);
        if (ordinal && !worker->node.empty() && is_alive(*worker))
            pins[std::to_string(*ordinal)] = worker->node;
    }
    if (known.nodes_listed)
        std::erase_if(pins, [&](const auto &pin) {
            const KubeNode *node = find_node(known, pin.second);
            return !node || !fit_of(set, *node).stays;
        });
    return pins;
}

std::vector<Step> copy_annotations(const Known &known,
                                   const std::vector<const Worker *> &workers)
{
    std::vector<Step> steps;
    for (const Worker *worker : workers) {
        const KubeNode *node = find_node(known, worker->node);
        if (!node || !is_alive(*worker) || steps.size() >= most_steps)
            continue;
        auto value = [](const Meta &meta, const char *name) {
            auto found = meta.annotations.find(name);
            return found == meta.annotations.end() ? std::string()
                                                   : found->second;
        };
        JsonValue changed = JsonValue::object({});
        bool any = false;
        for (const char *name :
             {names::topology_annotation, names::features_annotation}) {
            std::string wanted = value(node->meta, name);
            if (wanted == value(worker->meta, name))
                continue;
            changed.add(name, wanted.empty() ? JsonValue() : JsonValue(wanted));
            any = true;
        }
        if (!any)
            continue;
        auto metadata = JsonValue::object(
            {{"uid", worker->meta.uid}, {"annotations", std::move(changed)}});
        steps.push_back(
            {.verb = Step::Verb::patch,
             .what = "give Pod " + worker->meta.key.name +
                     " the annotations of its Node",
             .path = pod_path(worker->meta.key),
             .body = JsonValue::object({{"metadata", metadata}}).dump(),
             .seen = Seen{worker->meta.key, worker->meta.version}});
    }
    return steps;
}

} // namespace bridge::slinky
