// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of slinky.slurm.net for the tests of the operator.
#pragma once

#include "common/contract/worker_names.h"
#include "operator/decide/decide.h"
#include "operator/decide/names.h"
#include "operator/decide/worker_pod.h"

#include <format>
#include <string>
#include <vector>

namespace bridge::slinky {

inline Json json(const std::string &text)
{
    return Json::parse(text).value_or(Json());
}

inline Controller external_controller()
{
    return controller_from(json(R"({"metadata": {"namespace": "ns",
        "name": "slurm", "uid": "c-uid", "generation": 1},
        "spec": {"external": true, "externalConfig": {"host": "ctl",
        "port": 6817}, "slurmKeyRef": {"name": "keys", "key": "slurm.key"}}})"));
}

// What the steps do, without that on the status.
inline std::string whats(const std::vector<Step> &steps)
{
    std::string text;
    for (const Step &step : steps)
        if (!step.is_report)
            text += (text.empty() ? "" : "; ") + step.what;
    return text;
}

// The message of a condition in the status that the steps write.
inline std::string said(const std::vector<Step> &steps, const std::string &type)
{
    for (const Step &step : steps)
        for (const Json &item : json(step.body).items("status/conditions"))
            if (item.text("type") == type)
                return item.text("status") + ": " + item.text("message");
    return {};
}

// A NodeSet that has its finalizer; more: members of its spec, with a comma.
inline NodeSet node_set(int replicas, const std::string &more = {},
                        const std::string &name = "w")
{
    return node_set_from(json(std::format(
        R"({{"metadata": {{"namespace": "ns", "name": "{}", "uid": "{}-uid",
            "resourceVersion": "7", "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["slurmk8s/workers"]}},
            "spec": {{"controllerRef": {{"name": "slurm"}}, "replicas": {} {},
            "slurmd": {{"image": "slurmd", "resources": {{"requests":
            {{"cpu": "2", "memory": "1000Mi"}}}}}}}}}})",
        name, name, replicas, more)));
}

// A Kubernetes Node; more: members, with a comma.
inline KubeNode kube_node(const std::string &name, const std::string &more = {})
{
    return kube_node_from(json(std::format(
        R"({{"metadata": {{"name": "{}", "resourceVersion": "5",
            "labels": {{"zone": "a", "size": "8"}}}} {}}})",
        name, more)));
}

// A running and ready Pod of node_set(), named by its ordinal.
inline Worker worker(int ordinal)
{
    Worker made;
    made.meta.key = {"ns", "w-" + std::to_string(ordinal)};
    made.meta.uid = "uid-" + std::to_string(ordinal);
    made.meta.version = "9";
    made.meta.controller = "w-uid";
    made.phase = "Running";
    made.node = "node" + std::to_string(ordinal);
    made.ready = true;
    return made;
}

// The revision of a NodeSet's template.
inline std::string revision_of(const NodeSet &set)
{
    return revision_of(set, external_controller());
}

// The Pods have the present template, except for those with another label; and
// it is kept as a ControllerRevision.
inline Known known_with(const NodeSet &set, std::initializer_list<Worker> pods)
{
    Known known;
    Controller controller = external_controller();
    known.controllers[controller.meta.key] = controller;
    known.node_sets[set.meta.key] = set;
    std::string hash = revision_of(set);
    for (Worker pod : pods) {
        pod.meta.labels.try_emplace(names::revision_label, hash);
        known.workers[pod.meta.key] = pod;
    }
    Revision revision;
    revision.meta.key = {"ns", set.meta.key.name + "-" + hash};
    revision.meta.uid = "uid-" + hash;
    revision.meta.controller = set.meta.uid;
    revision.meta.labels[names::revision_label] = hash;
    revision.number = 1;
    known.revisions[revision.meta.key] = revision;
    return known;
}

} // namespace bridge::slinky
