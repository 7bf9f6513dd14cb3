// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/objects.h"

#include "agent/objects/gang_key.h"
#include "agent/objects/pod_placement.h"
#include "agent/objects/pod_requests.h"
#include "agent/objects/pod_start.h"
#include "agent/objects/unsupported_spec.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"
#include "common/kube/text.h"

#include <algorithm>
#include <format>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t max_claims = 128;       // each is some requests
constexpr std::size_t max_unfit_reasons = 10; // they end up in one message
// Of a Pod's labels, or annotations, that the agent may use: bytes of all names
// and values, and of one value. slurmctld takes 1024 bytes of a text.
constexpr std::size_t max_texts = 16 * 1024;
constexpr std::size_t max_text = 4 * 1024;
// Of a Pod's annotations that the agent may use: each decision about the Pod
// reads all of them. There are fewer known ones, with all three prefixes.
constexpr std::size_t max_annotations = 96;
constexpr std::int64_t max_grace = 10L * 365 * 24 * 3600; // seconds

std::string find_text(const TextMap &texts, const std::string &name)
{
    auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
}

ObjectKey key_from(const Json &object)
{
    return {object.text("metadata/namespace"), object.text("metadata/name")};
}

int small_integer(const Json &object, std::string_view path)
{
    std::int64_t n = object.integer(path).value_or(0);
    return n < 0 || n > std::numeric_limits<int>::max() ? -1
                                                        : static_cast<int>(n);
}

Json find_named(const std::vector<Json> &items, std::string_view key,
                const std::string &value)
{
    for (const Json &item : items)
        if (item.text(key) == value)
            return item;
    return {};
}

ContainerEnd container_end(const std::string &name,
                           const std::vector<Json> &statuses)
{
    ContainerEnd end;
    end.name = name;
    Json ended = find_named(statuses, "name", name).at("state/terminated");
    if (!ended.is_object())
        return end;
    end.terminated = true;
    end.exit_code = small_integer(ended, "exitCode");
    end.signal = small_integer(ended, "signal");
    end.reason = ended.text("reason");
    return end;
}

// Returns the ends of the containers. Init containers are included only if they
// failed and so ended the Pod. The end of a sidecar is left out: kubelet does
// not count it in the phase (getPhase).
std::vector<ContainerEnd> container_ends(const Json &pod)
{
    std::vector<ContainerEnd> ends;
    auto statuses = pod.items("status/initContainerStatuses");
    for (const Json &container : pod.items("spec/initContainers")) {
        if (container.text("restartPolicy") == "Always")
            continue;
        ContainerEnd end = container_end(container.text("name"), statuses);
        if (end.terminated && (end.exit_code != 0 || end.signal != 0))
            ends.push_back(std::move(end));
    }
    statuses = pod.items("status/containerStatuses");
    for (const Json &container : pod.items("spec/containers"))
        ends.push_back(container_end(container.text("name"), statuses));
    return ends;
}

// Keeps only labels or annotations that the agent uses, since 100,000 Pods must
// fit into 200 MB.
TextMap only_ours(TextMap texts)
{
    std::erase_if(texts, [](const auto &entry) {
        std::string_view prefix = entry.first;
        if (prefix == names::do_not_disrupt || prefix == names::safe_to_evict)
            return false;
        prefix = prefix.substr(0, prefix.find('/'));
        return prefix != "slurmk8s" && !prefix.ends_with("slinky.slurm.net");
    });
    return texts;
}

// Whether the agent writes it, so that a restart must find it again.
bool is_written_by_us(std::string_view name)
{
    return std::ranges::contains(
        std::initializer_list<std::string_view>{
            names::job_id_label, names::node_annotation,
            names::sluid_annotation, names::generation_annotation,
            names::do_not_disrupt, names::safe_to_evict, names::gang_label,
            names::rank_annotation, names::nodes_annotation,
            names::batch_annotation, names::batch_ends_annotation,
            names::batch_place_annotation, names::batch_srun_annotation,
            names::batch_hosts_annotation},
        name);
}

// Leaves out what is beyond max_texts, and the ends of values beyond max_text.
// The agent's own come first. Returns whether that changes what it can read.
bool limit(TextMap &texts)
{
    std::size_t bytes = 0;
    bool changes = false;
    for (auto &[name, value] : texts) {
        const bool own = is_written_by_us(name);
        changes |= !own && value.size() > max_text;
        if (value.size() > max_text)
            value = value.substr(0, max_text);
        if (own)
            bytes += name.size() + value.size();
    }
    return std::erase_if(texts,
                         [&](const auto &entry) {
                             if (is_written_by_us(entry.first))
                                 return false;
                             bytes += entry.first.size() + entry.second.size();
                             return bytes > max_texts;
                         }) > 0 ||
           changes;
}

// Leaves out annotations beyond max_annotations; those that the agent writes do
// not count. Returns whether there were any.
bool limit_number(TextMap &annotations)
{
    std::size_t number = 0;
    return std::erase_if(annotations, [&](const auto &entry) {
               return !is_written_by_us(entry.first) &&
                      ++number > max_annotations;
           }) > 0;
}

// None if it is larger than any object's: the API server takes every text.
OwnerRef controller_of(const Json &metadata)
{
    constexpr std::size_t most = 253; // bytes, as of a name
    for (const Json &owner : metadata.items("ownerReferences")) {
        if (!owner.flag("controller"))
            continue;
        OwnerRef made{owner.text("apiVersion"), owner.text("kind"),
                      owner.text("name"), owner.text("uid")};
        bool fits = std::max({made.api_version.size(), made.kind.size(),
                              made.name.size(), made.uid.size()}) <= most;
        return fits ? made : OwnerRef{};
    }
    return {};
}

void read_metadata(Pod &pod, const Json &object)
{
    Json metadata = object.at("metadata");
    pod.key = key_from(object);
    pod.uid = metadata.text("uid");
    pod.resource_version = metadata.text("resourceVersion");
    pod.generation = metadata.integer("generation").value_or(0);
    TextMap labels = metadata.texts("labels");
    TextMap annotations = metadata.texts("annotations");
    pod.deleting = !metadata.text("deletionTimestamp").empty();
    if (auto grace = metadata.integer("deletionGracePeriodSeconds");
        grace && pod.deleting)
        pod.deletion_grace = std::chrono::seconds(
            std::clamp<std::int64_t>(*grace, 0, max_grace));
    pod.created = parse_time(metadata.text("creationTimestamp"))
                      .value_or(std::chrono::sys_seconds{});
    pod.owner = controller_of(metadata);
    pod.gang = gang_key(pod.key, pod.owner, labels, annotations,
                        object.text("spec/schedulingGroup/podGroupName"));
    pod.labels = only_ours(std::move(labels));
    pod.annotations = only_ours(std::move(annotations));
    if (limit_number(pod.annotations))
        pod.unfit_reasons.push_back(
            std::format("its annotations slurmk8s/… and …slinky.slurm.net/… "
                        "are too many: {} are allowed",
                        max_annotations));
    for (auto [texts, what] : {std::pair(&pod.labels, "labels"),
                               std::pair(&pod.annotations, "annotations")})
        if (limit(*texts))
            pod.unfit_reasons.push_back(std::format(
                "its {} slurmk8s/… and …slinky.slurm.net/… are too long: {} "
                "bytes are allowed for one, and {} for all",
                what, max_text, max_texts));
}

std::chrono::seconds grace_in(const Json &object, std::int64_t otherwise)
{
    return std::chrono::seconds(std::clamp<std::int64_t>(
        object.integer("terminationGracePeriodSeconds").value_or(otherwise), 0,
        max_grace));
}

// A kubelet that stops a container because this probe failed grants it the
// probe's grace period instead of the Pod's: setTerminationGracePeriod() in its
// kuberuntime_container.go.
std::chrono::seconds longest_probe_grace(const Json &spec)
{
    std::chrono::seconds longest{0};
    for (const char *list : {"initContainers", "containers"})
        for (const Json &container : spec.items(list))
            for (const char *probe : {"livenessProbe", "startupProbe"})
                longest = std::max(longest, grace_in(container.at(probe), 0));
    return longest;
}

void read_spec(Pod &pod, const Json &object)
{
    Json spec = object.at("spec");
    pod.scheduler_name = spec.text("schedulerName");
    pod.priority_class = spec.text("priorityClassName");
    pod.node_name = spec.text("nodeName");
    pod.gated = !spec.items("schedulingGates").empty();
    pod.active_deadline = spec.integer("activeDeadlineSeconds");
    pod.grace_period = grace_in(spec, default_grace_period);
    pod.probe_grace = longest_probe_grace(spec);
    PodRequests asks = pod_requests(object);
    pod.requests = std::move(asks.requests);
    std::ranges::move(unsupported_spec_reasons(object),
                      std::back_inserter(pod.unfit_reasons));
    PodPlacement placement = pod_placement(object);
    pod.predicate = std::move(placement.required);
    pod.preferred = std::move(placement.preferred);
    pod.claims = claims_of(object);
    if (pod.claims.size() > max_claims) {
        pod.claims.clear();
        pod.unfit_reasons.push_back(
            std::format("it has more than {} volume claims", max_claims));
    }
    pod.resource_claims = pod_claims_of(object);
    pod.cpus = pod_cpus_of(object);
    pod.extended = extended_resources_of(object);
    pod.unfit_reasons.insert(pod.unfit_reasons.end(),
                             placement.unfit_reasons.begin(),
                             placement.unfit_reasons.end());
    pod.unfit_reasons.insert(pod.unfit_reasons.end(),
                             asks.unfit_reasons.begin(),
                             asks.unfit_reasons.end());
    if (pod.unfit_reasons.size() > max_unfit_reasons)
        pod.unfit_reasons.resize(max_unfit_reasons);
}

bool any_started(const Json &pod)
{
    for (const char *list :
         {"status/initContainerStatuses", "status/containerStatuses"})
        for (const Json &container : pod.items(list))
            if (container.at("state/running").is_object() ||
                container.at("state/terminated").is_object() ||
                container.at("lastState/terminated").is_object())
                return true;
    return false;
}

void read_status(Pod &pod, const Json &object)
{
    Json status = object.at("status");
    pod.extended_claim =
        status.text("extendedResourceClaimStatus/resourceClaimName");
    pod.phase = status.text("phase");
    pod.reason = status.text("reason");
    pod.message = status.text("message");
    Json scheduled =
        find_named(status.items("conditions"), "type", "PodScheduled");
    pod.scheduled = {scheduled.text("status"), scheduled.text("reason"),
                     scheduled.text("message")};
    pod.nominated_node = status.text("nominatedNodeName");
    Json disruption =
        find_named(status.items("conditions"), "type", "DisruptionTarget");
    if (disruption.text("status") == "True")
        pod.disruption = disruption.text("reason");
    pod.start_time = parse_time(status.text("startTime"))
                         .value_or(std::chrono::sys_seconds{});
    pod.started = any_started(object);
    pod.containers = container_ends(object);
    if (!pod.annotation(names::batch_annotation).empty())
        pod.start_failure_reason = not_started_reason(object);
}

} // namespace

std::string Pod::label(const std::string &name) const
{
    return find_text(labels, name);
}

std::string Pod::annotation(const std::string &name) const
{
    return find_text(annotations, name);
}

std::string Node::label(const std::string &key) const
{
    return find_text(labels, key);
}

std::string Node::annotation(const std::string &key) const
{
    return find_text(annotations, key);
}

Pod pod_from(const Json &object)
{
    Pod pod;
    read_metadata(pod, object);
    read_spec(pod, object);
    read_status(pod, object);
    return pod;
}

Node node_from(const Json &object)
{
    Json metadata = object.at("metadata");
    Node node;
    node.name = metadata.text("name");
    node.uid = metadata.text("uid");
    node.resource_version = metadata.text("resourceVersion");
    node.labels = metadata.texts("labels");
    node.annotations = metadata.texts("annotations");
    node.deleting = !metadata.text("deletionTimestamp").empty();
    node.created = parse_time(metadata.text("creationTimestamp"))
                       .value_or(std::chrono::sys_seconds{});
    node.unschedulable = object.flag("spec/unschedulable");
    Json ready = find_named(object.items("status/conditions"), "type", "Ready");
    node.ready = ready.text("status") == "True";
    node.ready_changed = parse_time(ready.text("lastTransitionTime"))
                             .value_or(std::chrono::sys_seconds{});
    for (const Json &taint : object.items("spec/taints"))
        node.taints.push_back({taint.text("key"), taint.text("value"),
                               taint.text("effect"), taint.text("timeAdded")});
    PodRequests has =
        read_resources(object.at("status/allocatable"), "allocatable");
    node.allocatable = std::move(has.requests);
    if (!has.unfit_reasons.empty())
        node.unfit_reason = has.unfit_reasons.front();
    return node;
}

Workload workload_from(const Json &object)
{
    Json metadata = object.at("metadata");
    TextMap annotations = only_ours(metadata.texts("annotations"));
    limit_number(annotations);
    limit(annotations);
    return {metadata.text("uid"), std::move(annotations),
            controller_of(metadata)};
}

Namespace namespace_from(const Json &object)
{
    return {object.text("metadata/name"), object.texts("metadata/labels"),
            object.texts("metadata/annotations")};
}

} // namespace bridge
