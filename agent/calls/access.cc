// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/access.h"

#include "agent/calls/token_request.h"
#include "common/base/json.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr char path[] =
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

using Where = Right::Where;

// The rights that the manifests in contribs/kubernetes grant, file by file.
constexpr Right table[] = {
    {Feature::base, "get", "", "pods"},
    {Feature::base, "list", "", "pods"},
    {Feature::base, "watch", "", "pods"},
    {Feature::base, "list", "", "nodes"},
    {Feature::base, "watch", "", "nodes"},
    {Feature::base, "list", "", "namespaces"},
    {Feature::base, "watch", "", "namespaces"},
    {Feature::base, "create", "", "pods", "binding"},
    {Feature::base, "patch", "", "pods", "status"},
    {Feature::base, "patch", "", "pods"},
    {Feature::base, "delete", "", "pods"},
    {Feature::base, "create", "", "pods", "eviction"},
    {Feature::base, "create", "events.k8s.io", "events"},
    {Feature::base, "patch", "events.k8s.io", "events"},
    {Feature::base, "get", "coordination.k8s.io", "leases", "", Where::lease},
    {Feature::base, "update", "coordination.k8s.io", "leases", "",
     Where::lease},
    {Feature::base, "create", "coordination.k8s.io", "leases", "",
     Where::lease_namespace},

    {Feature::nodes_patch, "patch", "", "nodes"},

    {Feature::volumes, "get", "", "persistentvolumeclaims"},
    {Feature::volumes, "patch", "", "persistentvolumeclaims"},
    {Feature::volumes, "get", "", "persistentvolumes"},
    {Feature::volumes, "list", "", "persistentvolumes"},
    {Feature::volumes, "patch", "", "persistentvolumes"},
    {Feature::volumes, "get", "storage.k8s.io", "storageclasses"},

    {Feature::owners, "get", "batch", "jobs"},
    {Feature::owners, "get", "apps", "replicasets"},
    {Feature::owners, "get", "apps", "deployments"},
    {Feature::owners, "get", "apps", "statefulsets"},
    {Feature::owners, "get", "jobset.x-k8s.io", "jobsets"},
    {Feature::owners, "get", "leaderworkerset.x-k8s.io", "leaderworkersets"},

    {Feature::pod_groups, "list", "scheduling.x-k8s.io", "podgroups"},
    {Feature::pod_groups, "watch", "scheduling.x-k8s.io", "podgroups"},
    {Feature::pod_groups, "list", "scheduling.k8s.io", "podgroups"},
    {Feature::pod_groups, "watch", "scheduling.k8s.io", "podgroups"},
    {Feature::pod_groups, "patch", "scheduling.k8s.io", "podgroups", "status"},

    {Feature::pod_group_status, "patch", "scheduling.x-k8s.io", "podgroups",
     "status"},

    {Feature::jobset_size, "list", "jobset.x-k8s.io", "jobsets"},
    {Feature::jobset_size, "watch", "jobset.x-k8s.io", "jobsets"},

    {Feature::devices, "list", "resource.k8s.io", "resourceslices"},
    {Feature::devices, "watch", "resource.k8s.io", "resourceslices"},
    {Feature::devices, "list", "resource.k8s.io", "deviceclasses"},
    {Feature::devices, "watch", "resource.k8s.io", "deviceclasses"},
    {Feature::devices, "get", "resource.k8s.io", "resourceclaims"},
    {Feature::devices, "list", "resource.k8s.io", "resourceclaims"},
    {Feature::devices, "watch", "resource.k8s.io", "resourceclaims"},
    {Feature::devices, "update", "resource.k8s.io", "resourceclaims"},
    {Feature::devices, "update", "resource.k8s.io", "resourceclaims", "status"},
    // New in Kubernetes 1.36: allows writing allocations in all namespaces.
    {Feature::devices, "update", "resource.k8s.io", "resourceclaims",
     "binding"},

    {Feature::extended_resources, "create", "resource.k8s.io",
     "resourceclaims"},
    {Feature::extended_resources, "delete", "resource.k8s.io",
     "resourceclaims"},

    {Feature::token_renewal, "create", "", "serviceaccounts", "token",
     Where::own_account},

    {Feature::sbatch, "create", "", "pods", "", Where::batch_namespace},
    {Feature::sbatch, "create", "", "secrets", "", Where::batch_namespace},
    {Feature::sbatch, "delete", "", "secrets", "", Where::batch_namespace},
    {Feature::sbatch_srun, "create", "", "services", "",
     Where::batch_namespace},
    {Feature::sbatch_srun, "get", "", "services", "", Where::batch_namespace},
    {Feature::sbatch_srun, "create", "", "configmaps", "",
     Where::batch_namespace},
    {Feature::sbatch_srun, "get", "", "configmaps", "", Where::batch_namespace},
};

constexpr std::uint32_t answer_bit = 1u << 31;

std::uint32_t bit(Feature feature)
{
    return 1u << unsigned(feature);
}

Result<bool> ask(Http &http, const Right &right, const Conf &conf)
{
    auto reply = http.post(path, access_review_body(right, conf));
    if (!reply)
        return std::unexpected(reply.error());
    if (auto said = check_status(*reply); !said)
        return std::unexpected(said.error());
    auto json = Json::parse(reply->body);
    if (!json)
        return std::unexpected(json.error());
    if (!json->at("status/allowed").present())
        return fail(Code::internal,
                    "the answer is not a SelfSubjectAccessReview");
    return json->flag("status/allowed");
}

} // namespace

const char *feature_name(Feature feature)
{
    switch (feature) {
    case Feature::base:
        return "base";
    case Feature::nodes_patch:
        return "nodes-patch";
    case Feature::volumes:
        return "volumes";
    case Feature::owners:
        return "owners";
    case Feature::pod_groups:
        return "pod-groups";
    case Feature::pod_group_status:
        return "pod-group-status";
    case Feature::jobset_size:
        return "jobset-size";
    case Feature::devices:
        return "devices";
    case Feature::extended_resources:
        return "extended-resources";
    case Feature::token_renewal:
        return "token-renewal";
    case Feature::sbatch:
        return "sbatch";
    case Feature::sbatch_srun:
        return "sbatch-srun";
    }
    return "unknown";
}

Feature feature_of(GroupApi api)
{
    return api == GroupApi::jobset ? Feature::jobset_size : Feature::pod_groups;
}

std::string feature_manifest(Feature feature)
{
    if (feature == Feature::base || feature == Feature::token_renewal)
        return "contribs/kubernetes";
    if (feature == Feature::pod_group_status)
        feature = Feature::pod_groups;
    if (feature == Feature::extended_resources)
        feature = Feature::devices;
    if (feature == Feature::sbatch_srun)
        feature = Feature::sbatch;
    return std::string("contribs/kubernetes/components/") +
           feature_name(feature);
}

std::string Right::words() const
{
    std::string text = std::string(verb) + " " + resource;
    if (*group)
        text += std::string(".") + group;
    if (*subresource)
        text += std::string("/") + subresource;
    return text;
}

std::span<const Right> needed_rights()
{
    return table;
}

bool AccessReview::may(Feature feature) const
{
    return std::ranges::none_of(
        missing, [&](const Right &r) { return r.feature == feature; });
}

std::string AccessReview::missing_rights(Feature feature) const
{
    std::string text;
    for (const Right &right : missing)
        if (right.feature == feature)
            text += (text.empty() ? "" : ", ") + right.words();
    return text;
}

std::string access_review_body(const Right &right, const Conf &conf)
{
    auto attributes = JsonValue::object({{"verb", right.verb},
                                         {"group", right.group},
                                         {"resource", right.resource}});
    if (*right.subresource)
        attributes.add("subresource", right.subresource);
    if (right.where == Where::batch_namespace)
        attributes.add("namespace", conf.batch_namespace);
    else if (right.where == Where::own_account)
        attributes.add("namespace", account_namespace)
            .add("name", account_name);
    else if (right.where != Where::everywhere)
        attributes.add("namespace", conf.lease_namespace);
    if (right.where == Where::lease)
        attributes.add("name", conf.lease_name);
    auto spec =
        JsonValue::object({{"resourceAttributes", std::move(attributes)}});
    return JsonValue::object({{"apiVersion", "authorization.k8s.io/v1"},
                              {"kind", "SelfSubjectAccessReview"},
                              {"spec", std::move(spec)}})
        .dump();
}

bool is_needed(const Right &right, const Conf &conf)
{
    switch (right.where) {
    case Where::lease:
    case Where::lease_namespace:
        return true;
    case Where::batch_namespace: // otherwise sbatch's jobs are off
        return conf.schedule_pods && !conf.batch_namespace.empty();
    case Where::own_account: // otherwise a kubelet renews the token
        return !conf.kube_token_file.empty();
    case Where::everywhere:
        return conf.schedule_pods;
    }
    return true;
}

Result<AccessReview> review_access(Http &http, const Conf &conf)
{
    AccessReview review;
    for (const Right &right : table) {
        if (!is_needed(right, conf))
            continue;
        auto allowed = ask(http, right, conf);
        if (!allowed)
            return fail(allowed.error(),
                        "cannot query the right to " + right.words());
        if (!*allowed)
            review.missing.push_back(right);
    }
    return review;
}

const Access &Access::unlimited()
{
    struct Unlimited : Access {
        Unlimited() { set({}); }
    };
    static const Unlimited access;
    return access;
}

bool Access::may(Feature feature) const
{
    return allowed_.load() & bit(feature);
}

bool Access::wait_until_may(Feature feature, std::stop_token stop) const
{
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return may(feature); });
}

bool Access::wait_until_answered(std::stop_token stop) const
{
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return answered(); });
}

bool Access::answered() const
{
    return allowed_.load() & answer_bit;
}

void Access::set(const AccessReview &review)
{
    std::uint32_t allowed = answer_bit;
    for (Feature feature : all_features)
        if (review.may(feature))
            allowed |= bit(feature);
    {
        std::lock_guard lock(mutex_); // otherwise a waiter may miss the change
        allowed_ = allowed;
    }
    changed_.notify_all();
}

} // namespace bridge
