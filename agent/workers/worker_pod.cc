// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/worker_pod.h"

#include "agent/objects/owner_reference.h"
#include "common/contract/autoscaler_names.h"
#include "common/contract/names.h"
#include "common/contract/worker_names.h"
#include "common/kube/text.h"

#include <algorithm>

namespace bridge {

namespace {

std::optional<std::string> given(const Json &annotations, const char *name)
{
    Json value = annotations.member(name);
    return value.present() ? std::optional(value.text()) : std::nullopt;
}

bool is_ours(const std::string &type)
{
    return type.starts_with(names::node_state_condition) ||
           type == names::worker_registered_condition ||
           type == names::worker_drained_condition;
}

} // namespace

std::optional<WorkerPod> worker_from(const Json &pod)
{
    Json metadata = pod.at("metadata");
    if (!has_node_set(metadata) || pod.flag("spec/hostNetwork"))
        return std::nullopt;
    Json annotations = metadata.at("annotations");
    WorkerPod worker;
    worker.key = {metadata.text("namespace"), metadata.text("name")};
    worker.uid = metadata.text("uid");
    for (const Json &address : pod.items("status/podIPs"))
        worker.addresses.push_back(address.text("ip"));
    worker.placed = !pod.text("spec/nodeName").empty();
    for (const Json &owner : metadata.items("ownerReferences"))
        if (owner.flag("controller"))
            worker.node_set = owner.text("name");
    worker.created =
        parse_time(metadata.text("creationTimestamp")).value_or(worker.created);
    // The name that slurmd finds in its container.
    worker.slurm_node = pod.text("spec/hostname");
    if (worker.slurm_node.empty())
        worker.slurm_node = worker.key.name;
    std::string phase = pod.text("status/phase");
    worker.over = phase == "Succeeded" || phase == "Failed";
    worker.ending = !metadata.text("deletionTimestamp").empty();
    worker.cordoned =
        annotations.member(names::worker_cordon_annotation).text() == "true";
    worker.request =
        read_worker_request(
            annotations.member(names::worker_request_annotation).text())
            .value_or(WorkerRequest{});
    worker.for_good =
        worker.request.drain &&
        annotations.member(names::forget_annotation).text() == "true";
    worker.topology = given(annotations, names::topology_annotation);
    worker.features = given(annotations, names::features_annotation);
    Json labels = metadata.at("labels");
    worker.controller = labels.member(names::cluster_label).text();
    worker.protect = labels.member(names::protect_label).text();
    worker.deadline = annotations.member(names::deadline_annotation).text();
    for (const char *name : {names::do_not_disrupt, names::safe_to_evict})
        if (annotations.member(name).present())
            worker.autoscaler_marks.insert(name);
    worker.own_marks = annotations.member(names::busy_mark).text();
    for (const Json &condition : pod.items("status/conditions"))
        if (std::string type = condition.text("type"); is_ours(type))
            worker.conditions[type] = {condition.text("status"),
                                       condition.text("reason"),
                                       condition.text("message")};
    return worker;
}

} // namespace bridge
