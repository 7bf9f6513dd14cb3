// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/kube_bodies.h"

#include "common/kube/text.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

constexpr std::size_t max_text = 1024;       // bytes, of a note or a message
constexpr std::size_t max_short_text = 128;  // bytes, of a reason
constexpr std::size_t max_object_name = 253; // characters
constexpr std::size_t event_suffix = 17;     // '.' and 16 digits

JsonValue as_object(const TextMap &texts)
{
    JsonValue::Object members;
    for (const auto &[name, value] : texts)
        members.emplace_back(name, value);
    return JsonValue::object(std::move(members));
}

// lastTransitionTime moves only when the status does.
JsonValue unscheduled(const Pod &pod, const std::string &reason,
                      const std::string &message, WallTime now)
{
    auto condition =
        JsonValue::object({{"type", "PodScheduled"},
                           {"status", "False"},
                           {"reason", reason},
                           {"message", message},
                           {"observedGeneration", pod.generation}});
    if (pod.scheduled.status != "False")
        condition.add("lastTransitionTime", second_time(now));
    return JsonValue::array({std::move(condition)});
}

std::string event_name(const std::string &pod, std::uint64_t unique)
{
    std::string name = pod.substr(0, max_object_name - event_suffix);
    // No part of a name may end in these.
    name.erase(name.find_last_not_of(".-") + 1);
    return name + std::format(".{:016x}", unique);
}

// Makes a write fail unless the Pod is unchanged: neither bound nor recreated.
JsonValue guard_of(const Pod &pod)
{
    auto metadata = JsonValue::object({{"uid", pod.uid}});
    if (!pod.resource_version.empty())
        metadata.add("resourceVersion", pod.resource_version);
    return metadata;
}

JsonValue delete_options(const std::string &uid,
                         const std::string &resource_version = {},
                         std::optional<std::chrono::seconds> grace = {})
{
    auto preconditions = JsonValue::object({{"uid", uid}});
    if (!resource_version.empty())
        preconditions.add("resourceVersion", resource_version);
    auto options =
        JsonValue::object({{"apiVersion", "v1"},
                           {"kind", "DeleteOptions"},
                           {"preconditions", std::move(preconditions)}});
    if (grace)
        options.add("gracePeriodSeconds",
                    std::max<std::int64_t>(grace->count(), 1));
    return options;
}

JsonValue taints_of(const std::vector<Taint> &taints)
{
    JsonValue::Array list;
    for (const Taint &taint : taints) {
        auto one =
            JsonValue::object({{"key", taint.key}, {"effect", taint.effect}});
        if (!taint.value.empty())
            one.add("value", taint.value);
        if (!taint.time_added.empty())
            one.add("timeAdded", taint.time_added);
        list.push_back(std::move(one));
    }
    return JsonValue::array(std::move(list));
}

std::string body_of_event(JsonValue regarding, const ObjectKey &key,
                          const PodEvent &event, const Reporter &reporter,
                          WallTime now, std::uint64_t unique)
{
    bool normal = event.type == PodEvent::Type::normal;
    auto cut = [](const std::string &text) {
        return clean_text(text, max_short_text);
    };
    auto metadata = JsonValue::object(
        {{"name", event_name(key.name, unique)}, {"namespace", key.ns}});
    return JsonValue::object({{"apiVersion", "events.k8s.io/v1"},
                              {"kind", "Event"},
                              {"metadata", std::move(metadata)},
                              {"eventTime", micro_time(now)},
                              {"reportingController", reporter.controller},
                              {"reportingInstance", cut(reporter.instance)},
                              {"action", cut(event.action)},
                              {"reason", cut(event.reason)},
                              {"type", normal ? "Normal" : "Warning"},
                              {"regarding", std::move(regarding)},
                              {"note", clean_text(event.note, max_text)}})
        .dump();
}

JsonValue plugins_status(const GroupPatch &patch, WallTime now)
{
    auto status = JsonValue::object({{"phase", patch.status.phase},
                                     {"running", patch.status.running},
                                     {"succeeded", patch.status.succeeded},
                                     {"failed", patch.status.failed}});
    if (patch.flips)
        status.add("scheduleStartTime", second_time(now));
    if (!patch.status.occupied_by.empty())
        status.add("occupiedBy", patch.status.occupied_by);
    return status;
}

JsonValue workload_status(const GroupPatch &patch, WallTime now)
{
    auto condition = JsonValue::object(
        {{"type", patch.where().scheduled},
         {"status", patch.condition.status},
         {"reason", patch.condition.reason},
         {"message", condition_message(patch.condition.message)}});
    if (patch.flips)
        condition.add("lastTransitionTime", second_time(now));
    return JsonValue::object(
        {{"conditions", JsonValue::array({std::move(condition)})}});
}

} // namespace

std::string group_body(const GroupPatch &patch, WallTime now)
{
    bool plugins = patch.api == GroupApi::plugins;
    return JsonValue::object(
               {{"metadata", JsonValue::object({{"uid", patch.uid},
                                                {"resourceVersion",
                                                 patch.resource_version}})},
                {"status", plugins ? plugins_status(patch, now)
                                   : workload_status(patch, now)}})
        .dump();
}

std::string owner_path(const std::string &ns, const OwnerRef &owner)
{
    struct Kind {
        std::string_view group;
        std::string_view kind;
        const char *resource;
    };
    constexpr Kind kinds[] = {
        {"batch", "Job", "jobs"},
        {"apps", "ReplicaSet", "replicasets"},
        {"apps", "Deployment", "deployments"},
        {"apps", "StatefulSet", "statefulsets"},
        {"jobset.x-k8s.io", "JobSet", "jobsets"},
        {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "leaderworkersets"}};
    std::size_t slash = owner.api_version.find('/');
    std::string_view group =
        std::string_view(owner.api_version).substr(0, slash);
    for (const Kind &known : kinds)
        if (slash != owner.api_version.npos && group == known.group &&
            owner.kind == known.kind && is_object_name(owner.name))
            return "/apis/" + std::string(group) + "/" +
                   url_encode(owner.api_version.substr(slash + 1)) +
                   "/namespaces/" + url_encode(ns) + "/" + known.resource +
                   "/" + url_encode(owner.name);
    return {};
}

std::string pods_path(const std::string &ns)
{
    return "/api/v1/namespaces/" + url_encode(ns) + "/pods";
}

std::string pod_path(const ObjectKey &key)
{
    return pods_path(key.ns) + "/" + url_encode(key.name);
}

std::string events_path(const std::string &ns)
{
    return "/apis/events.k8s.io/v1/namespaces/" + url_encode(ns) + "/events";
}

Result<> check_binding(const Pod &pod, const Binding &binding)
{
    if (pod.uid.empty())
        return fail(Code::internal, "the Pod has no uid");
    if (!is_object_name(binding.node))
        return fail(Code::rejected, "\"" + clean_text(binding.node, max_text) +
                                        "\" is not a valid Node name");
    return check_metadata(binding.labels, binding.annotations);
}

Result<> check_metadata(const TextMap &labels, const TextMap &annotations)
{
    for (const auto &[name, value] : labels)
        if (!is_qualified_name(name) || !is_label_value(value))
            return fail(Code::rejected, "\"" + name + "=" +
                                            clean_text(value, max_text) +
                                            "\" is not a valid label");
    for (const auto &[name, value] : annotations)
        if (!is_qualified_name(name))
            return fail(Code::rejected,
                        "\"" + name + "\" is not a valid annotation name");
    return {};
}

std::string binding_body(const Pod &pod, const Binding &binding)
{
    auto metadata = JsonValue::object(
        {{"name", pod.key.name}, {"namespace", pod.key.ns}, {"uid", pod.uid}});
    if (!binding.labels.empty())
        metadata.add("labels", as_object(binding.labels));
    if (!binding.annotations.empty())
        metadata.add("annotations", as_object(binding.annotations));
    auto target = JsonValue::object(
        {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", binding.node}});
    return JsonValue::object({{"apiVersion", "v1"},
                              {"kind", "Binding"},
                              {"metadata", std::move(metadata)},
                              {"target", std::move(target)}})
        .dump();
}

std::string condition_message(const std::string &message)
{
    return clean_text(message, max_text);
}

std::string unscheduled_body(const Pod &pod, const PodWait &wait, WallTime now)
{
    auto status = JsonValue::object(
        {{"conditions", unscheduled(pod, wait.reason, wait.message, now)}});
    if (pod.nominated_node != wait.node)
        status.add("nominatedNodeName",
                   wait.node.empty() ? JsonValue() : JsonValue(wait.node));
    return JsonValue::object(
               {{"metadata", guard_of(pod)}, {"status", std::move(status)}})
        .dump();
}

std::string failed_body(const Pod &pod, const std::string &reason,
                        const std::string &message, WallTime now)
{
    auto status = JsonValue::object(
        {{"phase", "Failed"},
         {"reason", reason},
         {"message", message},
         {"conditions", unscheduled(pod, reason, message, now)}});
    return JsonValue::object(
               {{"metadata", guard_of(pod)}, {"status", std::move(status)}})
        .dump();
}

std::string stamp_body(const Pod &pod, const TextMap &labels,
                       const TextMap &annotations)
{
    // A decision for a waiting Pod is wrong for one that was bound since.
    auto metadata =
        pod.bound() ? JsonValue::object({{"uid", pod.uid}}) : guard_of(pod);
    if (!labels.empty())
        metadata.add("labels", as_object(labels));
    if (!annotations.empty())
        metadata.add("annotations", as_object(annotations));
    return JsonValue::object({{"metadata", std::move(metadata)}}).dump();
}

// The smallest value that the API server accepts.
std::string expire_body(const Pod &pod)
{
    return JsonValue::object(
               {{"metadata", JsonValue::object({{"uid", pod.uid}})},
                {"spec", JsonValue::object({{"activeDeadlineSeconds", 1}})}})
        .dump();
}

std::string disrupted_body(const Pod &pod, const std::string &reason,
                           const std::string &message, WallTime now)
{
    auto condition =
        JsonValue::object({{"type", "DisruptionTarget"},
                           {"status", "True"},
                           {"reason", reason},
                           {"message", message},
                           {"lastTransitionTime", second_time(now)}});
    auto status = JsonValue::object(
        {{"conditions", JsonValue::array({std::move(condition)})}});
    return JsonValue::object(
               {{"metadata", JsonValue::object({{"uid", pod.uid}})},
                {"status", std::move(status)}})
        .dump();
}

std::string evict_body(const Pod &pod, std::chrono::seconds grace)
{
    auto metadata =
        JsonValue::object({{"name", pod.key.name}, {"namespace", pod.key.ns}});
    return JsonValue::object(
               {{"apiVersion", "policy/v1"},
                {"kind", "Eviction"},
                {"metadata", std::move(metadata)},
                {"deleteOptions", delete_options(pod.uid, {}, grace)}})
        .dump();
}

std::string delete_options_body(const std::string &uid,
                                const std::string &resource_version)
{
    return delete_options(uid, resource_version).dump();
}

std::string delete_within_body(const std::string &uid,
                               std::chrono::seconds grace)
{
    return delete_options(uid, {}, grace).dump();
}

std::string extended_claim_body(const Pod &pod,
                                const ExtendedClaimStatus &status)
{
    JsonValue::Array mappings;
    for (const RequestMapping &one : status.mappings)
        mappings.push_back(JsonValue::object({{"containerName", one.container},
                                              {"requestName", one.request},
                                              {"resourceName", one.resource}}));
    auto claim = JsonValue::object(
        {{"requestMappings", JsonValue::array(std::move(mappings))},
         {"resourceClaimName", status.claim}});
    return JsonValue::object(
               {{"metadata", JsonValue::object({{"uid", pod.uid}})},
                {"status", JsonValue::object({{"extendedResourceClaimStatus",
                                               std::move(claim)}})}})
        .dump();
}

std::string node_path(const std::string &name)
{
    return "/api/v1/nodes/" + url_encode(name);
}

std::string node_body(const NodePatch &patch)
{
    auto metadata = JsonValue::object(
        {{"uid", patch.uid}, {"resourceVersion", patch.resource_version}});
    JsonValue::Object annotations;
    for (const auto &[name, value] : patch.annotations)
        annotations.emplace_back(name, value ? JsonValue(*value) : JsonValue());
    if (!annotations.empty())
        metadata.add("annotations", JsonValue::object(std::move(annotations)));
    auto body = JsonValue::object({{"metadata", std::move(metadata)}});
    JsonValue::Object spec;
    if (patch.unschedulable)
        spec.emplace_back("unschedulable",
                          *patch.unschedulable ? JsonValue(true) : JsonValue());
    if (patch.taints)
        spec.emplace_back("taints", taints_of(*patch.taints));
    if (!spec.empty())
        body.add("spec", JsonValue::object(std::move(spec)));
    return body.dump();
}

std::string event_body(const Pod &pod, const PodEvent &event,
                       const Reporter &reporter, WallTime now,
                       std::uint64_t unique)
{
    return body_of_event(JsonValue::object({{"apiVersion", "v1"},
                                            {"kind", "Pod"},
                                            {"namespace", pod.key.ns},
                                            {"name", pod.key.name},
                                            {"uid", pod.uid}}),
                         pod.key, event, reporter, now, unique);
}

// kubectl describe looks for a Node's Events by its name, as the kubelet does.
std::string node_event_body(const Node &node, const PodEvent &event,
                            const Reporter &reporter, WallTime now,
                            std::uint64_t unique)
{
    return body_of_event(JsonValue::object({{"apiVersion", "v1"},
                                            {"kind", "Node"},
                                            {"name", node.name},
                                            {"uid", node.name}}),
                         {"default", node.name}, event, reporter, now, unique);
}

} // namespace bridge
