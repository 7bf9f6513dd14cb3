// SPDX-License-Identifier: GPL-2.0-or-later
// FakeKube's answers to calls for Pods.
#include "tests/unit/fakes/fake_kube.h"

#include "agent/calls/kube_bodies.h"
#include "common/kube/text.h"

#include <algorithm>

namespace bridge {

Result<> FakeKube::bind(const Pod &pod, const Binding &binding)
{
    if (auto fits = check_binding(pod, binding); !fits)
        return fits;
    return act({"bind", pod.key, binding.node}, pod,
               [&](Pod &there) -> Result<> {
                   if (there.node_name == binding.node)
                       return {};
                   if (there.bound() || there.deleting || there.gated)
                       return fail(Code::conflict, "it cannot be bound");
                   there.node_name = binding.node;
                   for (const auto &[name, value] : binding.labels)
                       there.labels[name] = value;
                   for (const auto &[name, value] : binding.annotations)
                       there.annotations[name] = value;
                   there.scheduled = {"True", "", ""};
                   return {};
               });
}

Result<> FakeKube::set_unscheduled(const Pod &pod, const PodWait &wait)
{
    ScheduledCondition wanted{"False", wait.reason,
                              condition_message(wait.message)};
    if (pod.scheduled == wanted && pod.nominated_node == wait.node)
        return {};
    return act({"set_unscheduled", pod.key, wait.reason}, pod,
               [&](Pod &there) -> Result<> {
                   if (!pod.resource_version.empty() &&
                       there.resource_version != pod.resource_version)
                       return fail(Code::conflict, "it has changed");
                   there.scheduled = wanted;
                   there.nominated_node = wait.node;
                   return {};
               });
}

Result<> FakeKube::fail_pod(const Pod &pod, const std::string &reason,
                            const std::string &message)
{
    if (pod.bound())
        return fail(Code::conflict, "it is bound");
    return act({"fail_pod", pod.key, reason}, pod, [&](Pod &there) -> Result<> {
        if (!pod.resource_version.empty() &&
            there.resource_version != pod.resource_version)
            return fail(Code::conflict, "it has changed");
        there.phase = "Failed";
        there.reason = reason;
        there.message = condition_message(message);
        there.scheduled = {"False", reason, there.message};
        return {};
    });
}

Result<> FakeKube::stamp(const Pod &pod, const TextMap &labels,
                         const TextMap &annotations)
{
    if (auto good = check_metadata(labels, annotations); !good)
        return good;
    std::string detail;
    for (const TextMap *texts : {&labels, &annotations})
        for (const auto &[name, value] : *texts)
            detail += (detail.empty() ? "" : ",") + name + "=" + value;
    return act({"stamp", pod.key, detail}, pod, [&](Pod &there) -> Result<> {
        if (!pod.bound() && !pod.resource_version.empty() &&
            there.resource_version != pod.resource_version)
            return fail(Code::conflict, "it has changed");
        for (const auto &[name, value] : labels)
            there.labels[name] = value;
        for (const auto &[name, value] : annotations)
            there.annotations[name] = value;
        return {};
    });
}

Result<> FakeKube::expire_pod(const Pod &pod)
{
    return act({"expire_pod", pod.key, ""}, pod, [](Pod &there) -> Result<> {
        there.active_deadline = 1;
        return {};
    });
}

Result<> FakeKube::set_disrupted(const Pod &pod, const std::string &reason,
                                 const std::string &)
{
    if (!pod.disruption.empty())
        return {};
    return act({"set_disrupted", pod.key, reason}, pod,
               [&](Pod &there) -> Result<> {
                   there.disruption = reason;
                   return {};
               });
}

Result<> FakeKube::evict_pod(const Pod &pod, std::chrono::seconds grace)
{
    Call call{"evict_pod", pod.key, std::to_string(grace.count())};
    if (budget_exhausted) {
        next_mishap(call); // records the call
        return fail(Code::rejected, "a PodDisruptionBudget forbids it");
    }
    return remove(call, pod, grace);
}

Result<> FakeKube::delete_pod(const Pod &pod)
{
    return remove({"delete_pod", pod.key, ""}, pod);
}

Result<> FakeKube::delete_within(const Pod &pod, std::chrono::seconds grace)
{
    return remove({"delete_pod", pod.key, std::to_string(grace.count())}, pod,
                  grace);
}

Result<> FakeKube::delete_unbound(const Pod &pod)
{
    return remove({"delete_unbound", pod.key, ""}, pod, {}, true);
}

// A bound Pod stays, deleting, until a kubelet has ended it: erase(). A second
// deletion may shorten the grace period of the first.
Result<> FakeKube::remove(const Call &call, const Pod &pod,
                          std::optional<std::chrono::seconds> grace,
                          bool as_read)
{
    bool vanishes = false;
    auto said = act(call, pod, [&](Pod &there) -> Result<> {
        bool same = there.resource_version == pod.resource_version;
        if (as_read && (pod.bound() || !same))
            return fail(Code::conflict, "it has changed since");
        auto asked = grace.value_or(there.grace_period);
        if (there.deletion_grace)
            asked = std::min(asked, *there.deletion_grace);
        there.deletion_grace = asked;
        there.deleting = true;
        vanishes = !there.bound();
        return {};
    });
    if (vanishes)
        erase(pod.key);
    auto there = find(pod.key);
    bool another = there && there->uid != pod.uid;
    if (!said && (said.error().code == Code::not_found ||
                  (said.error().code == Code::conflict && another)))
        return {};
    return said;
}

Result<Pod> FakeKube::get_pod(const ObjectKey &key)
{
    {
        std::lock_guard lock(mutex_);
        auto &waiting = mishaps_["get_pod"];
        if (!waiting.empty()) {
            Error error = waiting.front().second;
            waiting.pop_front();
            return std::unexpected(error);
        }
    }
    auto found = find(key);
    if (!found)
        return fail(Code::not_found, "no Pod=" + key.str());
    return *found;
}

Result<std::vector<Pod>> FakeKube::list_pods(const std::string &ns)
{
    auto [mishap, error] = next_mishap({"list_pods", {ns, ""}, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::vector<Pod> all = pods();
    std::erase_if(all, [&](const Pod &pod) { return pod.key.ns != ns; });
    return all;
}

Result<std::vector<Pod>>
FakeKube::list_pods_with_label(const std::string &ns, const std::string &label)
{
    auto [mishap, error] = next_mishap({"list_pods_with_label", {ns, ""}, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::vector<Pod> all = pods();
    std::erase_if(all, [&](const Pod &pod) {
        return pod.key.ns != ns || pod.label(label).empty();
    });
    return all;
}

Result<TextMap> FakeKube::addresses_of(const std::string &ns,
                                       const std::string &label,
                                       const std::string &value)
{
    auto [mishap, error] = next_mishap({"addresses_of", {ns, value}, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    TextMap found;
    for (const Pod &pod : pods())
        if (auto ip = addresses.find(pod.uid); ip != addresses.end() &&
                                               pod.key.ns == ns &&
                                               pod.label(label) == value)
            found.insert(*ip);
    return found;
}

Result<Pod> FakeKube::create_pod(const std::string &ns, const std::string &body)
{
    auto json = Json::parse(body);
    if (!json)
        return std::unexpected(json.error());
    Pod pod = pod_from(*json);
    auto [mishap, error] = next_mishap({"create_pod", pod.key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    if (pod.key.ns != ns)
        return fail(Code::rejected, "HTTP 400: another namespace");
    if (auto room = check_quota(); !room) // also where it exists
        return std::unexpected(room.error());
    if (find(pod.key))
        return fail(Code::conflict, "HTTP 409: already exists");
    pod = put(pod);
    pod_bodies[pod.key] = body;
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return pod;
}

Result<> FakeKube::try_pod(const std::string &ns, const std::string &body)
{
    auto json = Json::parse(body);
    if (!json)
        return std::unexpected(json.error());
    Pod pod = pod_from(*json);
    auto [mishap, error] = next_mishap({"try_pod", pod.key, ""});
    if (mishap != Mishap::none)
        return std::unexpected(error);
    if (pod.key.ns != ns)
        return fail(Code::rejected, "HTTP 400: another namespace");
    return check_quota();
}

Result<> FakeKube::check_quota() const
{
    auto all = pods();
    auto counted = std::ranges::count_if(
        all, [](const Pod &pod) { return !pod.terminal(); });
    if (pod_quota && static_cast<std::size_t>(counted) >= *pod_quota)
        return fail(Code::denied, "HTTP 403: exceeded quota");
    return {};
}

} // namespace bridge
