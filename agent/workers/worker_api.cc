// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/worker_api.h"

#include "agent/calls/kube_bodies.h"
#include "agent/objects/busy_marks.h"
#include "common/base/json.h"
#include "common/contract/autoscaler_names.h"
#include "common/contract/names.h"
#include "common/contract/worker_names.h"
#include "common/kube/text.h"

#include <array>
#include <utility>

namespace bridge {

namespace {

constexpr char strategic_merge[] = "application/strategic-merge-patch+json";
constexpr char merge_patch[] = "application/merge-patch+json";
constexpr long unprocessable = 422;

// A null removes a member.
JsonValue value_or_null(const std::string &text)
{
    return text.empty() ? JsonValue() : JsonValue(text);
}

// What autoscalers are told with the label: not to take the Node away from a
// busy slurmd.
void add_marks(const WorkerPod &pod, bool busy, JsonValue::Object &annotations)
{
    constexpr std::array<BusyMark, 2> marks{
        {{names::do_not_disrupt, "true"}, {names::safe_to_evict, "false"}}};
    BusyMarks plan = plan_busy_marks(
        marks,
        [&](const char *name) { return pod.autoscaler_marks.contains(name); },
        pod.own_marks, busy);
    for (auto &[name, value] : plan.changes)
        annotations.emplace_back(std::move(name),
                                 value_or_null(value.value_or("")));
    if (!plan.own.empty() || !pod.own_marks.empty())
        annotations.emplace_back(names::busy_mark, value_or_null(plan.own));
}

} // namespace

std::string node_sets_path(const std::string &ns)
{
    return std::string("/apis/") + names::slinky_version + "/namespaces/" +
           url_encode(ns) + "/nodesets";
}

std::string worker_patch_body(const WorkerPod &pod, const WorkerPatch &patch,
                              std::chrono::system_clock::time_point now,
                              bool marks)
{
    JsonValue metadata = JsonValue::object({{"uid", pod.uid}});
    JsonValue::Object annotations;
    if (patch.protect) {
        metadata.add("labels",
                     JsonValue::object({{names::protect_label,
                                         value_or_null(*patch.protect)}}));
        if (marks)
            add_marks(pod, !patch.protect->empty(), annotations);
    }
    if (patch.deadline)
        annotations.emplace_back(names::deadline_annotation,
                                 value_or_null(*patch.deadline));
    if (!annotations.empty())
        metadata.add("annotations", JsonValue::object(std::move(annotations)));
    JsonValue body = JsonValue::object({{"metadata", std::move(metadata)}});
    JsonValue::Array conditions;
    for (const auto &[type, wanted] : patch.conditions) {
        JsonValue condition =
            JsonValue::object({{"type", type},
                               {"status", wanted.status},
                               {"reason", wanted.reason},
                               {"message", condition_message(wanted.message)}});
        auto before = pod.conditions.find(type);
        if (before == pod.conditions.end() ||
            before->second.status != wanted.status)
            condition.add("lastTransitionTime", second_time(now));
        conditions.push_back(std::move(condition));
    }
    if (!conditions.empty())
        body.add("status", JsonValue::object(
                               {{"conditions",
                                 JsonValue::array(std::move(conditions))}}));
    return body.dump();
}

std::string scale_path(const ObjectKey &node_set)
{
    return node_sets_path(node_set.ns) + "/" + url_encode(node_set.name) +
           "/scale";
}

std::string scale_body(std::uint32_t replicas)
{
    return JsonValue::object(
               {{"spec", JsonValue::object({{"replicas", replicas}})}})
        .dump();
}

Result<> WorkerApi::scale(const ObjectKey &node_set, std::uint32_t replicas)
{
    auto reply = http_.patch(Write::patch_worker, scale_path(node_set),
                             merge_patch, scale_body(replicas));
    std::string doing = "set the replicas of NodeSet " + node_set.str();
    if (!reply)
        return fail(reply.error(), doing);
    if (auto said = check_status(*reply); !said)
        return fail(said.error(), doing);
    return {};
}

// A policy that is older than the marks for autoscalers refuses all of it: then
// the label alone is written, for which jobs wait.
Result<> WorkerApi::patch(const WorkerPod &pod, const WorkerPatch &patch)
{
    auto done = try_patch(pod, patch, true);
    if (!done && done.error().code == Code::denied && patch.protect)
        return try_patch(pod, patch, false);
    return done;
}

Result<> WorkerApi::try_patch(const WorkerPod &pod, const WorkerPatch &patch,
                              bool marks)
{
    auto reply = http_.patch(
        Write::patch_worker, pod_path(pod.key) + "/status", strategic_merge,
        worker_patch_body(pod, patch, std::chrono::system_clock::now(), marks));
    std::string doing = "patch the worker " + pod.key.str();
    if (!reply)
        return fail(reply.error(), doing);
    // The API server finds that metadata.uid would change.
    if (reply->status == unprocessable && reply->body.contains("metadata.uid"))
        return fail(Code::not_found, doing + ": another Pod has its name");
    if (auto said = check_status(*reply); !said)
        return fail(said.error(), doing);
    return {};
}

} // namespace bridge
