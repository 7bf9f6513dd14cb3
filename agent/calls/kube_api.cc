// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/kube_api.h"

#include "agent/calls/kube_bodies.h"
#include "agent/calls/volume_list.h"
#include "common/kube/status.h"

#include <algorithm>
#include <random>
#include <utility>

namespace bridge {

namespace {

constexpr char strategic_merge[] = "application/strategic-merge-patch+json";
constexpr char merge_patch[] = "application/merge-patch+json";
// Events about objects without a namespace go here.
constexpr char node_event_namespace[] = "default";

WallTime now()
{
    return std::chrono::system_clock::now();
}

std::uint64_t random_number()
{
    static thread_local std::mt19937_64 numbers{std::random_device{}()};
    return numbers();
}

std::string doing(const char *what, const Pod &pod)
{
    return std::string(what) + " Pod=" + pod.key.str();
}

// Checks the reply to a patch that contains the uid.
Result<> check_patch(const Result<HttpReply> &reply)
{
    if (!reply)
        return std::unexpected(reply.error());
    if (is_uid_mismatch(reply->status, reply->body))
        return fail(Code::conflict, "another object has this name");
    return check_status(*reply);
}

// Tells the outcome of a binding from the Pod as it is now.
Result<> judge(const Pod &now_there, const Pod &pod, const Binding &binding,
               const Error &said)
{
    if (now_there.uid != pod.uid)
        return fail(Code::conflict, "another Pod has this name");
    if (now_there.node_name == binding.node)
        return {};
    if (now_there.bound())
        return fail(Code::conflict,
                    "it is bound to Node=" + now_there.node_name);
    // The binding was certainly not made: it may be tried again.
    Error error = said;
    if (error.code == Code::uncertain)
        error.code = Code::busy;
    return std::unexpected(std::move(error));
}

} // namespace

KubeApi::KubeApi(HttpEndpoint endpoint, const WriteGate &gate,
                 std::string reporter, std::string instance,
                 std::shared_ptr<VolumeList> volumes)
    : http_(std::move(endpoint), gate), reporter_(std::move(reporter)),
      instance_(std::move(instance)),
      volumes_(volumes ? std::move(volumes) : std::make_shared<VolumeList>())
{
}

Result<> KubeApi::bind(const Pod &pod, const Binding &binding)
{
    if (auto fits = check_binding(pod, binding); !fits)
        return fail(fits.error(), doing("bind", pod));
    auto reply = http_.post(Write::bind, pod_path(pod.key) + "/binding",
                            binding_body(pod, binding));
    Result<> said =
        reply ? check_status(*reply) : std::unexpected(reply.error());
    // The server may have made the binding although it fails or says "already
    // assigned".
    bool unknown = reply ? reply->status == 409 || reply->status >= 500
                         : reply.error().code == Code::uncertain;
    if (unknown)
        said = confirm_binding(pod, binding, said.error());
    if (!said)
        return fail(said.error(), doing("bind", pod));
    return {};
}

Result<> KubeApi::confirm_binding(const Pod &pod, const Binding &binding,
                                  const Error &said)
{
    auto found = get_pod(pod.key);
    if (found)
        return judge(*found, pod, binding, said);
    if (found.error().code == Code::not_found)
        return fail(Code::not_found, "it is gone");
    Error error = found.error();
    error.code = Code::uncertain;
    error.message = said.message + "; " + error.message;
    error.retry_after = std::max(error.retry_after, said.retry_after);
    return std::unexpected(std::move(error));
}

Result<> KubeApi::set_unscheduled(const Pod &pod, const PodWait &wait)
{
    PodWait said{wait.reason, condition_message(wait.message), wait.node};
    if (pod.scheduled ==
            ScheduledCondition{"False", said.reason, said.message} &&
        pod.nominated_node == said.node)
        return {};
    auto reply =
        http_.patch(Write::set_unscheduled, pod_path(pod.key) + "/status",
                    strategic_merge, unscheduled_body(pod, said, now()));
    if (auto good = check_patch(reply); !good)
        return fail(good.error(), doing("set PodScheduled of", pod));
    return {};
}

Result<> KubeApi::fail_pod(const Pod &pod, const std::string &reason,
                           const std::string &message)
{
    if (pod.bound())
        return fail(Code::conflict,
                    doing("fail", pod) +
                        ": it is bound to Node=" + pod.node_name);
    auto reply = http_.patch(
        Write::fail_pod, pod_path(pod.key) + "/status", strategic_merge,
        failed_body(pod, reason, condition_message(message), now()));
    if (auto said = check_patch(reply); !said)
        return fail(said.error(), doing("fail", pod));
    return {};
}

Result<> KubeApi::stamp(const Pod &pod, const TextMap &labels,
                        const TextMap &annotations)
{
    if (auto good = check_metadata(labels, annotations); !good)
        return fail(good.error(), doing("stamp", pod));
    auto reply = http_.patch(Write::stamp, pod_path(pod.key), strategic_merge,
                             stamp_body(pod, labels, annotations));
    if (auto said = check_patch(reply); !said)
        return fail(said.error(), doing("stamp", pod));
    return {};
}

Result<> KubeApi::expire_pod(const Pod &pod)
{
    auto reply = http_.patch(Write::expire_pod, pod_path(pod.key),
                             strategic_merge, expire_body(pod));
    if (auto said = check_patch(reply); !said)
        return fail(said.error(), doing("set activeDeadlineSeconds of", pod));
    return {};
}

Result<> KubeApi::set_disrupted(const Pod &pod, const std::string &reason,
                                const std::string &message)
{
    if (!pod.disruption.empty())
        return {};
    auto reply = http_.patch(
        Write::set_disrupted, pod_path(pod.key) + "/status", strategic_merge,
        disrupted_body(pod, reason, condition_message(message), now()));
    if (auto said = check_patch(reply); !said)
        return fail(said.error(), doing("set DisruptionTarget of", pod));
    return {};
}

Result<> KubeApi::evict_pod(const Pod &pod, std::chrono::seconds grace)
{
    auto reply = http_.post(Write::evict_pod, pod_path(pod.key) + "/eviction",
                            evict_body(pod, grace));
    if (reply && is_budget_exhausted(reply->status, reply->body))
        return fail(Code::rejected,
                    doing("evict", pod) + ": a PodDisruptionBudget forbids it");
    return check_removal(pod, reply, doing("evict", pod));
}

Result<> KubeApi::delete_pod(const Pod &pod)
{
    return check_removal(pod,
                         http_.remove(Write::delete_pod, pod_path(pod.key),
                                      delete_options_body(pod.uid)),
                         doing("delete", pod));
}

Result<> KubeApi::delete_within(const Pod &pod, std::chrono::seconds grace)
{
    return check_removal(pod,
                         http_.remove(Write::delete_pod, pod_path(pod.key),
                                      delete_within_body(pod.uid, grace)),
                         doing("delete", pod));
}

// A concurrent binding either comes first and makes this fail, or fails itself.
Result<> KubeApi::delete_unbound(const Pod &pod)
{
    if (pod.bound())
        return fail(Code::conflict,
                    doing("delete", pod) +
                        ": it is bound to Node=" + pod.node_name);
    auto reply =
        http_.remove(Write::delete_pod, pod_path(pod.key),
                     delete_options_body(pod.uid, pod.resource_version));
    return check_removal(pod, reply, doing("delete", pod));
}

// 409 means that a precondition failed (another Pod has the name, or the Pod
// has changed) or that the server itself had a conflict.
Result<> KubeApi::check_removal(const Pod &pod, const Result<HttpReply> &reply,
                                const std::string &what)
{
    if (!reply)
        return fail(reply.error(), what);
    auto said = check_status(*reply);
    if (said || said.error().code == Code::not_found)
        return {};
    if (said.error().code == Code::conflict && is_gone(pod))
        return {};
    return fail(said.error(), what);
}

// Whether no Pod has the name, or another one.
bool KubeApi::is_gone(const Pod &pod)
{
    auto found = get_pod(pod.key);
    return found ? found->uid != pod.uid
                 : found.error().code == Code::not_found;
}

Result<Pod> KubeApi::get_pod(const ObjectKey &key)
{
    auto json = object_in(http_.get(pod_path(key)), "get Pod=" + key.str());
    if (!json)
        return std::unexpected(json.error());
    return pod_from(*json);
}

Result<std::vector<Pod>> KubeApi::list_pods(const std::string &ns)
{
    return pods_that(ns, {}, "list Pods of " + ns);
}

Result<std::vector<Pod>> KubeApi::list_pods_with_label(const std::string &ns,
                                                       const std::string &label)
{
    return pods_that(ns, "&labelSelector=" + url_encode(label),
                     "list Pods of " + ns + " with the label " + label);
}

Result<std::vector<Pod>> KubeApi::pods_that(const std::string &ns,
                                            const std::string &query,
                                            const std::string &what)
{
    std::vector<Pod> pods;
    auto done = for_each_pod(ns, query, what, [&](const Json &item) {
        pods.push_back(pod_from(item));
    });
    if (!done)
        return std::unexpected(done.error());
    return pods;
}

Result<> KubeApi::for_each_pod(const std::string &ns, const std::string &query,
                               const std::string &what,
                               const std::function<void(const Json &)> &each)
{
    std::string all = pods_path(ns) + "?limit=" + page_size + query;
    std::string next;
    do {
        auto page = object_in(
            http_.get(next.empty() ? all
                                   : all + "&continue=" + url_encode(next)),
            what);
        if (!page)
            return std::unexpected(page.error());
        if (page->text("kind") != "PodList")
            return fail(Code::internal, what + ": not a list");
        for (const Json &item : page->items("items"))
            each(item);
        next = page->text("metadata/continue");
    } while (!next.empty());
    return {};
}

Result<Workload> KubeApi::get_owner(const std::string &ns,
                                    const OwnerRef &owner)
{
    std::string what = "get " + owner.kind + "=" + ns + "/" + owner.name;
    std::string path = owner_path(ns, owner);
    if (path.empty())
        return fail(Code::not_found, what + ": the kind is not supported");
    auto json = object_in(http_.get_metadata(path), what);
    if (!json)
        return std::unexpected(json.error());
    Workload workload = workload_from(*json);
    if (workload.uid != owner.uid)
        return fail(Code::not_found, what + ": another object has this name");
    return workload;
}

Result<> KubeApi::patch_node(const NodePatch &patch)
{
    auto reply = http_.patch(Write::patch_node, node_path(patch.node),
                             merge_patch, node_body(patch));
    if (auto said = check_patch(reply); !said)
        return fail(said.error(), "patch Node=" + patch.node);
    return {};
}

Result<> KubeApi::patch_group(const GroupPatch &patch)
{
    // For kinds of a CRD the server supports no strategic merge.
    const char *type =
        patch.api == GroupApi::plugins ? merge_patch : strategic_merge;
    auto reply =
        http_.patch(Write::patch_group, patch.where().status_of(patch.key),
                    type, group_body(patch, now()));
    if (auto said = check_patch(reply); !said)
        return fail(said.error(), "patch PodGroup=" + patch.key.str());
    return {};
}

Result<> KubeApi::post_event(const Pod &pod, const PodEvent &event)
{
    return send_event(
        pod.key.ns,
        event_body(pod, event, {reporter_, instance_}, now(), random_number()),
        doing("post Event of", pod));
}

Result<> KubeApi::post_node_event(const Node &node, const PodEvent &event)
{
    return send_event(node_event_namespace,
                      node_event_body(node, event, {reporter_, instance_},
                                      now(), random_number()),
                      "post Event of Node=" + node.name);
}

Result<> KubeApi::send_event(const std::string &ns, const std::string &body,
                             const std::string &what)
{
    auto reply = http_.post(Write::post_event, events_path(ns), body);
    if (!reply)
        return fail(reply.error(), what);
    // 409: libcurl has sent it twice; nobody else uses this name.
    if (reply->status == 409)
        return {};
    if (auto said = check_status(*reply); !said)
        return fail(said.error(), what);
    return {};
}

} // namespace bridge
