// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/group_spec.h"

#include <algorithm>
#include <limits>

namespace bridge {

namespace {

constexpr std::int64_t max_timeout = 24L * 3600; // seconds

constexpr GroupApiPath plugins_paths[] = {
    {"scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup"}};
constexpr GroupApiPath jobset_paths[] = {
    {"jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet"}};
// Kubernetes 1.37 has the first two of them, 1.36 the last.
constexpr GroupApiPath workload_paths[] = {
    {"scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup",
     "PodGroupInitiallyScheduled"},
    {"scheduling.k8s.io", "v1alpha3", "podgroups", "PodGroup",
     "PodGroupInitiallyScheduled"},
    {"scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup",
     "PodGroupScheduled"}};

// Reads a number of Pods, at least 1. Anything else, which the API server
// should have refused, makes the gang impossible.
void read_minimum(GroupSpec &spec, const Json &object, const char *path)
{
    Json value = object.at(path);
    if (!value.present()) {
        spec.minimum = 1;
        return;
    }
    std::int64_t number = value.integer().value_or(0);
    bool fits =
        number >= 1 && number <= std::numeric_limits<std::int32_t>::max();
    spec.minimum = fits ? static_cast<std::uint32_t>(number) : 1;
    if (!fits)
        spec.unfit_reason = std::string(path) +
                            " of its PodGroup must be a number "
                            "of Pods from 1";
}

// Returns how many Pods of one replicated Job exist at once.
std::uint64_t pods_at_once(const Json &job)
{
    auto number = [&](const char *path, std::int64_t otherwise) {
        return static_cast<std::uint64_t>(
            std::clamp<std::int64_t>(job.integer(path).value_or(otherwise), 0,
                                     std::numeric_limits<std::int32_t>::max()));
    };
    std::uint64_t parallelism = number("template/spec/parallelism", 1);
    std::uint64_t completions = number(
        "template/spec/completions", std::numeric_limits<std::int32_t>::max());
    return std::min<std::uint64_t>(number("replicas", 1) *
                                       std::min(parallelism, completions),
                                   std::numeric_limits<std::int32_t>::max());
}

// The JobSet controller may create later Jobs only when earlier ones run:
// dependsOn, or startup in order.
void read_jobset(GroupSpec &spec, const Json &object)
{
    bool in_order =
        object.text("spec/startupPolicy/startupPolicyOrder") == "InOrder";
    std::uint64_t all = 0;
    std::uint64_t at_once = 0;
    for (const Json &job : object.items("spec/replicatedJobs")) {
        std::uint64_t pods = pods_at_once(job);
        bool later = !job.items("dependsOn").empty() || (in_order && all > 0);
        all += pods;
        at_once += later ? 0 : pods;
    }
    auto small = [](std::uint64_t pods) {
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
            pods, 1, std::numeric_limits<std::int32_t>::max()));
    };
    spec.elastic = false;
    spec.size = small(all);
    spec.minimum = small(at_once);
}

void read_plugins(GroupSpec &spec, const Json &object)
{
    read_minimum(spec, object, "spec/minMember");
    spec.timeout = std::chrono::seconds(std::clamp<std::int64_t>(
        object.integer("spec/scheduleTimeoutSeconds").value_or(0), 0,
        max_timeout));
    spec.status = pod_group_status_from(object);
    spec.status_writer = status_writer_of(object);
}

void read_workload(GroupSpec &spec, const Json &object)
{
    Json policy = object.at("spec/schedulingPolicy");
    bool gang = policy.member("gang").is_object();
    bool basic = policy.member("basic").is_object();
    if (gang)
        read_minimum(spec, object, "spec/schedulingPolicy/gang/minCount");
    else if (basic)
        spec.minimum = 0;
    else
        spec.unfit_reason =
            "its PodGroup has a schedulingPolicy that is not supported";
    for (const Json &condition : object.items("status/conditions"))
        if (condition.text("type") == spec.path->scheduled)
            spec.scheduled = {condition.text("status"),
                              condition.text("reason"),
                              condition.text("message")};
}

} // namespace

std::string GroupApiPath::version_path() const
{
    return std::string("/apis/") + group + "/" + version;
}

std::string GroupApiPath::list() const
{
    return version_path() + "/" + resource;
}

std::string GroupApiPath::status_of(const ObjectKey &key) const
{
    return version_path() + "/namespaces/" + key.ns + "/" + resource + "/" +
           key.name + "/status";
}

std::string GroupApiPath::words() const
{
    return std::string(resource) + "." + group + "/" + version;
}

std::span<const GroupApiPath> paths_of(GroupApi api)
{
    if (api == GroupApi::plugins)
        return plugins_paths;
    if (api == GroupApi::jobset)
        return jobset_paths;
    return workload_paths;
}

const GroupApiPath &path_of(GroupApi api)
{
    return paths_of(api).front();
}

bool GroupSpec::same_terms(const GroupSpec &other) const
{
    return uid == other.uid && minimum == other.minimum && size == other.size &&
           timeout == other.timeout && unfit_reason == other.unfit_reason;
}

GroupSpec group_spec_from(const Json &object, GroupApi api)
{
    return group_spec_from(object, api, path_of(api));
}

GroupSpec group_spec_from(const Json &object, GroupApi api,
                          const GroupApiPath &path)
{
    GroupSpec spec;
    spec.api = api;
    spec.path = &path;
    Json metadata = object.at("metadata");
    spec.key = {metadata.text("namespace"), metadata.text("name")};
    spec.uid = metadata.text("uid");
    spec.resource_version = metadata.text("resourceVersion");
    if (api == GroupApi::plugins)
        read_plugins(spec, object);
    else if (api == GroupApi::workload)
        read_workload(spec, object);
    else if (api == GroupApi::jobset)
        read_jobset(spec, object);
    if (spec.elastic)
        spec.size = std::max(1u, spec.minimum);
    return spec;
}

} // namespace bridge
