// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/worker_pod.h"

#include "common/base/stable_hash.h"
#include "common/contract/names.h"
#include "common/contract/worker_names.h"
#include "operator/decide/claims.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/metadata.h"
#include "operator/decide/names.h"
#include "operator/decide/node_conf.h"
#include "operator/decide/node_fit.h"

#include <algorithm>
#include <format>
#include <optional>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr int key_mode = 0400;
constexpr char slurmd[] = "slurmd"; // container, port, and app
// In which the agent drains the node of a Pod that is deleted without asking:
// it looks once a second.
constexpr std::int64_t drain_seconds = 3;
constexpr std::int64_t usual_grace = 30; // of Kubernetes

JsonValue object_of(const TextMap &texts)
{
    JsonValue made = JsonValue::object({});
    for (const auto &[name, value] : texts)
        made.add(name, value);
    return made;
}

std::string server_of(const Controller &controller)
{
    bool bare_ipv6 = controller.host.contains(':');
    return std::format("{}{}{}:{}", bare_ipv6 ? "[" : "", controller.host,
                       bare_ipv6 ? "]" : "", controller.port);
}

JsonValue http_probe(const char *path, int failures)
{
    return JsonValue::object(
        {{"httpGet", JsonValue::object({{"path", path}, {"port", slurmd}})},
         {"periodSeconds", 10},
         {"failureThreshold", failures}});
}

// All that slurmd needs: it becomes the user of each job, gives it its files,
// and kills it.
JsonValue own_security()
{
    auto needed = JsonValue::array({"SETUID", "SETGID", "CHOWN", "KILL"});
    return JsonValue::object(
        {{"runAsUser", 0},
         {"allowPrivilegeEscalation", false},
         {"capabilities",
          JsonValue::object({{"drop", JsonValue::array({"ALL"})},
                             {"add", std::move(needed)}})},
         {"seccompProfile", JsonValue::object({{"type", "RuntimeDefault"}})}});
}

// slurmd ends its jobs at SIGTERM, so nobody may get a new one there before. A
// sleep needs no program in the image; the API server wants it shorter than the
// grace, and beside no other handler.
std::optional<JsonValue> own_lifecycle(const NodeSet &set)
{
    auto grace = set.spec.integer("template/spec/terminationGracePeriodSeconds")
                     .value_or(usual_grace);
    std::int64_t seconds = std::min(drain_seconds, grace - 1);
    if (seconds < 1 || set.spec.at("slurmd/lifecycle/preStop").is_object())
        return std::nullopt;
    auto sleep = JsonValue::object(
        {{"sleep", JsonValue::object({{"seconds", seconds}})}});
    return JsonValue::object({{"preStop", std::move(sleep)}});
}

JsonValue own_container(const NodeSet &set, const Controller &controller)
{
    auto args =
        JsonValue::array({"-D", "-Z", "--conf-server", server_of(controller),
                          "--conf", node_conf(set).words});
    auto port = JsonValue::object({{"name", slurmd},
                                   {"containerPort", slurmd_port},
                                   {"protocol", "TCP"}});
    auto mount = JsonValue::object({{"name", "slurm-etc"},
                                    {"mountPath", "/etc/slurm"},
                                    {"readOnly", true}});
    auto made = JsonValue::object(
        {{"name", slurmd},
         {"command", JsonValue::array({"/usr/sbin/slurmd"})},
         {"args", std::move(args)},
         {"ports", JsonValue::array({std::move(port)})},
         {"volumeMounts", JsonValue::array({std::move(mount)})},
         {"startupProbe", http_probe("/livez", 6)},
         {"livenessProbe", http_probe("/livez", 6)},
         {"readinessProbe", http_probe("/readyz", 3)}});
    // The API server refuses a privileged container with these limits.
    if (!set.spec.flag("slurmd/securityContext/privileged"))
        made.add("securityContext", own_security());
    if (auto lifecycle = own_lifecycle(set))
        made.add("lifecycle", std::move(*lifecycle));
    return made;
}

// slurmd takes the key only if it is root's and nobody else can read it, while
// the jobs' commands have to read what lies beside it.
JsonValue key_volume(const Controller &controller)
{
    auto item = JsonValue::object({{"key", controller.key_name},
                                   {"path", "slurm.key"},
                                   {"mode", key_mode}});
    auto secret =
        JsonValue::object({{"name", controller.key_secret},
                           {"items", JsonValue::array({std::move(item)})}});
    auto source = JsonValue::object({{"secret", std::move(secret)}});
    auto projected =
        JsonValue::object({{"sources", JsonValue::array({std::move(source)})}});
    return JsonValue::object(
        {{"name", "slurm-etc"}, {"projected", std::move(projected)}});
}

// Two slurmds on one Node would both report its CPUs.
JsonValue one_a_node()
{
    auto selector = JsonValue::object(
        {{"matchLabels", JsonValue::object({{names::app_label, slurmd}})}});
    auto term = JsonValue::object({{"topologyKey", "kubernetes.io/hostname"},
                                   {"labelSelector", std::move(selector)}});
    return JsonValue::object(
        {{"podAntiAffinity",
          JsonValue::object({{"requiredDuringSchedulingIgnoredDuringExecution",
                              JsonValue::array({std::move(term)})}})}});
}

// Those of the template, and ours: a Pod is ready when its slurmd is
// registered, which slurmd's own /readyz does not say.
std::string gates_of(const Json &spec)
{
    std::string ours = JsonValue::object({{"conditionType",
                                           names::worker_registered_condition}})
                           .dump();
    std::vector<std::string> gates{ours};
    for (const Json &gate : spec.items("readinessGates"))
        if (gate.text("conditionType") != names::worker_registered_condition)
            gates.push_back(gate.dump());
    return json_array(gates);
}

// The affinity with one more requirement: this Node. Each of the terms that are
// there gets it, since one of them suffices.
std::string bound_to(const std::string &node, const Json &affinity)
{
    std::string field =
        JsonValue::object({{"key", "metadata.name"},
                           {"operator", "In"},
                           {"values", JsonValue::array({node})}})
            .dump();
    Json node_affinity = affinity.at("nodeAffinity");
    constexpr char required[] =
        "requiredDuringSchedulingIgnoredDuringExecution";
    auto given = node_affinity.at(required).items("nodeSelectorTerms");
    std::vector<std::string> terms;
    for (const Json &term : given) {
        std::vector<std::string> fields{field};
        for (const Json &one : term.items("matchFields"))
            fields.push_back(one.dump());
        JsonMembers made = members_of(term);
        // One without requirements matches nothing.
        if (!term.items("matchFields").empty() ||
            !term.items("matchExpressions").empty())
            put(made, "matchFields", json_array(fields));
        terms.push_back(json_object(made));
    }
    if (!node_affinity.at(required).is_object())
        terms.push_back(json_object({{"matchFields", json_array({field})}}));
    JsonMembers inner = members_of(node_affinity);
    put(inner, required,
        json_object({{"nodeSelectorTerms", json_array(terms)}}));
    JsonMembers made = members_of(affinity);
    put(made, "nodeAffinity", json_object(inner));
    return json_object(made);
}

// Those of the template, and those of the Pods of a DaemonSet.
std::string tolerations_of(const Json &spec)
{
    std::vector<std::string> all;
    for (const Json &one : spec.items("tolerations"))
        all.push_back(one.dump());
    for (const Toleration &one : daemon_tolerations)
        all.push_back(JsonValue::object({{"key", one.key},
                                         {"operator", "Exists"},
                                         {"effect", one.effect}})
                          .dump());
    return json_array(all);
}

std::string pod_spec(const NodeSet &set, const Controller &controller,
                     const Slot &slot)
{
    std::string container = merged(
        read_own(own_container(set, controller).dump()), set.spec.at("slurmd"));
    JsonMembers named = members_of(read_own(container));
    put(named, "name", JsonValue(slurmd).dump());
    JsonValue base = JsonValue::object(
        {{"enableServiceLinks", false},
         // Without it slurmd is process 1, and leaves a zombie for each step.
         {"shareProcessNamespace", true},
         {"volumes", JsonValue::array({key_volume(controller)})}});
    if (!set.share_nodes)
        base.add("affinity", one_a_node());
    JsonMembers with = members_of(read_own(base.dump()));
    put(with, "containers", json_array({json_object(named)}));

    std::string spec =
        merged(read_own(json_object(with)), set.spec.at("template/spec"));
    JsonMembers made = members_of(read_own(spec));
    put(made, "readinessGates", gates_of(read_own(spec)));
    put(made, "volumes",
        with_claims(set, slot.pod, read_own(spec).items("volumes")));
    put(made, "automountServiceAccountToken", "false");
    put(made, "hostname", JsonValue(slot.host).dump());
    put(made, "subdomain", JsonValue(workers_service(set.controller)).dump());
    drop(made, "nodeName"); // the scheduler's
    if (set.daemon_set)
        put(made, "tolerations", tolerations_of(read_own(spec)));
    if (!slot.node.empty())
        put(made, "affinity",
            bound_to(slot.node, read_own(spec).at("affinity")));
    return json_object(made);
}

TextMap labels_of(const NodeSet &set, const Controller &controller,
                  const Slot &slot)
{
    TextMap labels = set.spec.texts("template/metadata/labels");
    labels.erase(names::protect_label); // the agent's
    labels[names::app_label] = slurmd;
    labels[names::instance_label] = set.meta.key.name;
    labels[names::component_label] = "worker";
    labels[names::cluster_label] = set.controller;
    labels[names::worker_name_label] = slot.pod;
    labels[names::worker_index_label] = slot.index;
    labels[names::worker_hostname_label] = slot.host;
    labels[names::scaling_mode_label] = scaling_mode(set);
    labels[names::revision_label] = revision_of(set, controller);
    return labels;
}

TextMap annotations_of(const NodeSet &set)
{
    TextMap annotations = set.spec.texts("template/metadata/annotations");
    for (const char *ours :
         {names::worker_request_annotation, names::forget_annotation,
          names::deadline_annotation, names::deletion_cost_annotation,
          names::topology_annotation, names::features_annotation})
        annotations.erase(ours);
    annotations.try_emplace("kubectl.kubernetes.io/default-container", slurmd);
    return annotations;
}

} // namespace

std::string slurmd_image(const NodeSet &set)
{
    return set.spec.text("slurmd/image");
}

std::string revision_of(const NodeSet &set, const Controller &controller)
{
    // With one ordinal and the same labels for all: only what they share.
    std::string text =
        pod_spec(set, controller, slot_of(set, 0)) +
        object_of(set.spec.texts("template/metadata/labels")).dump() +
        object_of(annotations_of(set)).dump();
    // Whoever can make two templates with one hash can only keep Pods of their
    // own from being called outdated.
    return std::format("{:016x}", stable_hash(text));
}

std::string selector_of(const NodeSet &set)
{
    return std::format("{}={},{}={}", names::instance_label, set.meta.key.name,
                       names::app_label, slurmd);
}

std::string worker_pod(const NodeSet &set, const Controller &controller,
                       const Slot &slot)
{
    auto metadata = JsonValue::object(
        {{"name", slot.pod},
         {"namespace", set.meta.key.ns},
         {"labels", object_of(labels_of(set, controller, slot))},
         {"annotations", object_of(annotations_of(set))},
         {"ownerReferences", owned_by(set)}});
    return json_object({{"apiVersion", "\"v1\""},
                        {"kind", "\"Pod\""},
                        {"metadata", metadata.dump()},
                        {"spec", pod_spec(set, controller, slot)}});
}

} // namespace bridge::slinky
