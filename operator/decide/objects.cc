// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/objects.h"

#include "common/contract/names.h"
#include "common/contract/worker_names.h"

#include <algorithm>
#include <string_view>

namespace bridge::slinky {

namespace {

Meta meta_from(const Json &json)
{
    Json metadata = json.at("metadata");
    Meta meta;
    meta.key = {metadata.text("namespace"), metadata.text("name")};
    meta.uid = metadata.text("uid");
    meta.version = metadata.text("resourceVersion");
    meta.created = metadata.text("creationTimestamp");
    meta.generation = metadata.integer("generation").value_or(0);
    meta.deleting = !metadata.text("deletionTimestamp").empty();
    meta.labels = metadata.texts("labels");
    meta.annotations = metadata.texts("annotations");
    for (const Json &owner : metadata.items("ownerReferences"))
        if (owner.flag("controller"))
            meta.controller = owner.text("uid");
    return meta;
}

std::vector<Condition> conditions_from(const Json &json)
{
    std::vector<Condition> conditions;
    for (const Json &item : json.items("status/conditions"))
        conditions.push_back({item.text("type"), item.text("status"),
                              item.text("reason"), item.text("message"),
                              item.text("lastTransitionTime"),
                              item.integer("observedGeneration").value_or(0)});
    return conditions;
}

// Their uids.
std::vector<std::string> owners_from(const Json &json)
{
    std::vector<std::string> owners;
    for (const Json &owner : json.items("metadata/ownerReferences"))
        owners.push_back(owner.text("uid"));
    return owners;
}

std::vector<std::string> finalizers_from(const Json &json)
{
    std::vector<std::string> finalizers;
    for (const Json &item : json.items("metadata/finalizers"))
        finalizers.push_back(item.text());
    return finalizers;
}

void read_state(const Condition &condition, Worker &worker)
{
    constexpr std::string_view prefix = names::node_state_condition;
    if (condition.status != "True")
        return;
    if (condition.type == "Ready") {
        worker.ready = true;
        worker.ready_since = condition.since;
    } else if (condition.type == names::worker_drained_condition) {
        worker.answer = read_drain_answer(condition.message);
    } else if (condition.type.starts_with(prefix)) {
        worker.states.push_back(condition.type.substr(prefix.size()));
    }
}

// What a container that has ended, or waits, has left to say.
void read_state(const Json &state, Daemon &daemon)
{
    Json ended = state.at("terminated");
    Json waits = state.at("waiting");
    if (ended.present()) {
        daemon.ended = true;
        daemon.ended_at = ended.text("finishedAt");
        daemon.words = ended.text("message");
        if (daemon.words.empty())
            daemon.words = ended.text("reason");
    } else if (waits.present()) {
        daemon.words = waits.text("reason");
        if (std::string why = waits.text("message"); !why.empty())
            daemon.words += ": " + why;
    }
}

// Where slurmctld is: as the spec says, or behind the Service that the operator
// makes.
void read_place(const Json &json, Controller &controller)
{
    const Key &key = controller.meta.key;
    controller.external = json.flag("spec/external");
    controller.host = controller_service(key.name) + "." + key.ns;
    controller.port = slurmctld_port;
    if (controller.external) {
        controller.host = json.text("spec/externalConfig/host");
        controller.port = json.integer("spec/externalConfig/port").value_or(0);
    }
}

// As "kubectl rollout status" has it.
bool is_settled(const Json &json)
{
    auto wanted = json.integer("spec/replicas").value_or(1);
    auto count = [&](const char *what) {
        return json.at("status").integer(what).value_or(0);
    };
    return count("observedGeneration") >=
               json.integer("metadata/generation").value_or(0) &&
           count("updatedReplicas") >= wanted &&
           count("readyReplicas") >= wanted && count("replicas") == wanted;
}

} // namespace

const Condition *find_condition(const std::vector<Condition> &conditions,
                                const std::string &type)
{
    auto found = std::ranges::find(conditions, type, &Condition::type);
    return found == conditions.end() ? nullptr : &*found;
}

std::string controller_service(const std::string &controller)
{
    return controller + "-controller";
}

Controller controller_from(const Json &json)
{
    Controller made;
    made.meta = meta_from(json);
    made.finalizers = finalizers_from(json);
    read_place(json, made);
    made.cluster_name = json.text("spec/clusterName");
    if (made.cluster_name.empty())
        made.cluster_name = made.meta.key.ns + "_" + made.meta.key.name;
    made.spec = json.at("spec");
    made.key_secret = json.text("spec/slurmKeyRef/name");
    made.key_name = json.text("spec/slurmKeyRef/key");
    made.conditions = conditions_from(json);
    return made;
}

NodeSet node_set_from(const Json &json)
{
    NodeSet made;
    made.meta = meta_from(json);
    made.finalizers = finalizers_from(json);
    made.controller = json.text("spec/controllerRef/name");
    made.daemon_set = json.text("spec/scalingMode") == "DaemonSet";
    made.replicas = json.integer("spec/replicas").value_or(1);
    made.padding = json.integer("spec/ordinalPadding").value_or(0);
    made.extra_conf = json.text("spec/extraConf");
    made.share_nodes = json.flag("spec/oversubscribeNode");
    made.protect =
        json.at("spec/workloadDisruptionProtection").dump() != "false";
    made.spec = json.at("spec");
    made.status = json.at("status");
    made.conditions = conditions_from(json);
    return made;
}

Worker worker_from(const Json &json)
{
    Worker made;
    made.meta = meta_from(json);
    made.phase = json.text("status/phase");
    made.node = json.text("spec/nodeName");
    auto asked = made.meta.annotations.find(names::worker_request_annotation);
    if (asked != made.meta.annotations.end())
        made.request = read_worker_request(asked->second);
    auto good = made.meta.annotations.find(names::forget_annotation);
    made.for_good =
        good != made.meta.annotations.end() && good->second == "true";
    for (const Condition &condition : conditions_from(json))
        read_state(condition, made);
    return made;
}

Service service_from(const Json &json)
{
    Service made;
    made.meta = meta_from(json);
    made.owners = owners_from(json);
    made.cluster_ip = json.text("spec/clusterIP");
    made.selector = json.texts("spec/selector");
    return made;
}

Revision revision_from(const Json &json)
{
    return {meta_from(json), json.integer("revision").value_or(0)};
}

Budget budget_from(const Json &json)
{
    Budget made;
    made.meta = meta_from(json);
    made.owners = owners_from(json);
    made.most_unavailable = json.integer("spec/maxUnavailable");
    made.labels = json.texts("spec/selector/matchLabels");
    auto expressions = json.items("spec/selector/matchExpressions");
    if (!expressions.empty())
        for (const Json &value : expressions[0].items("values"))
            made.excepted.push_back(value.text());
    return made;
}

Claim claim_from(const Json &json)
{
    return {meta_from(json), owners_from(json)};
}

KubeNode kube_node_from(const Json &json)
{
    KubeNode made;
    made.meta = meta_from(json);
    made.meta.version.clear();
    std::erase_if(made.meta.annotations, [](const auto &annotation) {
        return annotation.first != names::hostname_annotation &&
               annotation.first != names::topology_annotation &&
               annotation.first != names::features_annotation;
    });
    for (const Json &taint : json.items("spec/taints"))
        made.taints.push_back(
            {taint.text("key"), taint.text("value"), taint.text("effect")});
    return made;
}

Made made_from(const Json &json)
{
    Made made;
    made.kind = json.text("kind");
    made.meta = meta_from(json);
    made.ready = json.integer("status/readyReplicas").value_or(0);
    made.data = json.texts("data");
    made.binary_data = json.texts("binaryData");
    for (const Json &one : json.items("spec/template/spec/containers"))
        made.images[one.text("name")] = one.text("image");
    made.replicas = json.integer("spec/replicas").value_or(1);
    made.settled = is_settled(json);
    return made;
}

FileMap file_map_from(const Json &json)
{
    return {meta_from(json), json.texts("data"), json.texts("binaryData")};
}

Daemon daemon_from(const Json &json)
{
    Daemon made;
    made.meta = meta_from(json);
    made.phase = json.text("status/phase");
    made.lost = !json.text("status/reason").empty();
    for (const Json &one : json.items("spec/containers"))
        if (one.text("name") == slurmctld_app)
            made.image = one.text("image");
    for (const Json &one : json.items("status/containerStatuses"))
        if (one.text("name") == slurmctld_app) {
            made.ready = one.flag("ready");
            read_state(one.at("state"), made);
        }
    for (const Condition &condition : conditions_from(json)) {
        if (condition.type == names::configured_condition &&
            condition.status == "True")
            made.configured = condition.message;
        if (condition.type == "PodScheduled" && condition.status == "False")
            made.words = condition.message;
    }
    return made;
}

Unserved unserved_from(const Json &json)
{
    return {json.text("kind"), meta_from(json), json.at("spec"),
            conditions_from(json)};
}

} // namespace bridge::slinky
