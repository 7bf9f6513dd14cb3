// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fake_kube.h"

#include "agent/kube_bodies.h"
#include "agent/kube_text.h"
#include "common/json_text.h"

namespace bridge {

Pod FakeKube::put(Pod pod)
{
    {
        std::lock_guard lock(mutex_);
        if (pod.uid.empty())
            pod.uid = "uid-" + std::to_string(++uids_);
        if (pod.phase.empty())
            pod.phase = "Pending";
        pod.resource_version = std::to_string(++version_);
        pods_[pod.key] = pod;
    }
    tell(pod, false);
    return pod;
}

bool FakeKube::change(const ObjectKey &key,
                      const std::function<void(Pod &)> &edit)
{
    auto pod = find(key);
    return pod && write_to(*pod, [&](Pod &there) -> Result<> {
                      edit(there);
                      return {};
                  }).has_value();
}

bool FakeKube::erase(const ObjectKey &key)
{
    Pod last;
    {
        std::lock_guard lock(mutex_);
        auto found = pods_.find(key);
        if (found == pods_.end())
            return false;
        last = std::move(found->second);
        last.resource_version = std::to_string(++version_);
        pods_.erase(found);
    }
    tell(last, true);
    return true;
}

std::optional<Pod> FakeKube::find(const ObjectKey &key) const
{
    std::lock_guard lock(mutex_);
    auto found = pods_.find(key);
    return found == pods_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Pod> FakeKube::pods() const
{
    std::lock_guard lock(mutex_);
    std::vector<Pod> all;
    for (const auto &[key, pod] : pods_)
        all.push_back(pod);
    return all;
}

void FakeKube::on_change(OnChange callback)
{
    std::lock_guard lock(mutex_);
    on_change_ = std::move(callback);
}

void FakeKube::fail_next(const std::string &what, Code code,
                         std::chrono::seconds retry_after)
{
    std::lock_guard lock(mutex_);
    mishaps_[what].emplace_back(
        Mishap::refuse, Error{code, "as the test wants", retry_after});
}

void FakeKube::lose_reply(const std::string &what)
{
    std::lock_guard lock(mutex_);
    mishaps_[what].emplace_back(
        Mishap::lose, Error{Code::uncertain, "as the test wants", {}});
}

std::vector<FakeKube::Call> FakeKube::calls() const
{
    std::lock_guard lock(mutex_);
    return calls_;
}

std::vector<std::pair<ObjectKey, PodEvent>> FakeKube::events() const
{
    std::lock_guard lock(mutex_);
    return events_;
}

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

Result<> FakeKube::set_unscheduled(const Pod &pod, const std::string &reason,
                                   const std::string &message)
{
    ScheduledCondition wanted{"False", reason, condition_message(message)};
    if (pod.scheduled == wanted)
        return {};
    return act({"set_unscheduled", pod.key, reason}, pod,
               [&](Pod &there) -> Result<> {
                   if (!pod.resource_version.empty() &&
                       there.resource_version != pod.resource_version)
                       return fail(Code::conflict, "it has changed");
                   there.scheduled = wanted;
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

Result<> FakeKube::evict_pod(const Pod &pod)
{
    if (budget_exhausted) {
        next_mishap({"evict_pod", pod.key, ""}); // records the call
        return fail(Code::rejected, "a PodDisruptionBudget forbids it");
    }
    return remove("evict_pod", pod);
}

Result<> FakeKube::delete_pod(const Pod &pod)
{
    return remove("delete_pod", pod);
}

// A bound Pod stays, deleting, until a kubelet has ended it: erase().
Result<> FakeKube::remove(const std::string &what, const Pod &pod)
{
    bool vanishes = false;
    auto said = act({what, pod.key, ""}, pod, [&](Pod &there) -> Result<> {
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
    auto found = find(key);
    if (!found)
        return fail(Code::not_found, "no Pod=" + key.str());
    return *found;
}

std::string FakeKube::secret(const ObjectKey &key) const
{
    std::lock_guard lock(mutex_);
    auto found = secrets_.find(key);
    return found == secrets_.end() ? "" : found->second;
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
    if (find(pod.key))
        return fail(Code::conflict, "HTTP 409: already exists");
    pod = put(pod);
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
    return {};
}

Result<> FakeKube::put_secret(const ObjectKey &key, const std::string &body)
{
    auto [mishap, error] = next_mishap({"put_secret", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::lock_guard lock(mutex_);
    secrets_[key] = body;
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return {};
}

Result<> FakeKube::delete_secret(const ObjectKey &key)
{
    auto [mishap, error] = next_mishap({"delete_secret", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::lock_guard lock(mutex_);
    secrets_.erase(key);
    return {};
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

Result<VolumeFacts> FakeKube::read_volumes(const Pod &pod)
{
    auto [mishap, error] = next_mishap({"read_volumes", pod.key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    return volumes;
}

Result<> FakeKube::select_node(const Claim &claim, const std::string &node)
{
    auto [mishap, error] =
        next_mishap({"select_node", {claim.ns, claim.name}, node});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    volumes.claims[claim.name].selected_node = node;
    return {};
}

Result<> FakeKube::give_volume(const Volume &volume, const Claim &claim)
{
    auto [mishap, error] =
        next_mishap({"give_volume", {claim.ns, claim.name}, volume.name});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    volumes.volumes[volume.name].claimed_by = claim.ns + "/" + claim.name;
    volumes.volumes[volume.name].claimed_uid = claim.uid;
    return {};
}

void FakeKube::put_claim(const std::string &text)
{
    auto json = Json::parse(text);
    ObjectKey key{json->text("metadata/namespace"),
                  json->text("metadata/name")};
    {
        std::lock_guard lock(mutex_);
        std::string metadata = json_with(
            *json_text(text, "metadata"), "resourceVersion",
            JsonValue(std::to_string(++version_)).dump());
        claims_[key] = json_with(text, "metadata", metadata);
    }
    tell_claim(key);
}

void FakeKube::erase_claim(const ObjectKey &key)
{
    ResourceClaim last = resource_claim_from(*Json::parse(claim(key)),
                                             claim(key));
    {
        std::lock_guard lock(mutex_);
        claims_.erase(key);
    }
    if (on_claim)
        on_claim(last, true);
}

std::string FakeKube::claim(const ObjectKey &key) const
{
    std::lock_guard lock(mutex_);
    auto found = claims_.find(key);
    return found == claims_.end() ? "" : found->second;
}

std::vector<ResourceClaim> FakeKube::claims() const
{
    std::lock_guard lock(mutex_);
    std::vector<ResourceClaim> all;
    for (const auto &[key, text] : claims_)
        all.push_back(resource_claim_from(*Json::parse(text), text));
    return all;
}

void FakeKube::tell_claim(const ObjectKey &key) const
{
    std::string text = claim(key);
    if (on_claim)
        on_claim(resource_claim_from(*Json::parse(text), text), false);
}

Result<ClaimText> FakeKube::read_claim(const ObjectKey &key)
{
    auto [mishap, error] = next_mishap({"read_claim", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::string text = claim(key);
    if (text.empty())
        return fail(Code::not_found, "HTTP 404");
    return ClaimText{resource_claim_from(*Json::parse(text), text), text};
}

Result<ClaimText> FakeKube::write_claim(const ObjectKey &key,
                                        const std::string &body)
{
    return put_part("write_claim", key, body, false);
}

Result<ClaimText> FakeKube::write_claim_status(const ObjectKey &key,
                                               const std::string &body)
{
    return put_part("write_claim_status", key, body, true);
}

// As the API server: a write to the status changes nothing else, and the other
// way round; an allocation is not changed into another.
Result<ClaimText> FakeKube::put_part(const char *what, const ObjectKey &key,
                                     const std::string &body, bool status)
{
    if (before_claim_write)
        before_claim_write(key);
    auto [mishap, error] = next_mishap({what, key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::string old = claim(key);
    auto json = Json::parse(body);
    if (old.empty() || !json)
        return fail(old.empty() ? Code::not_found : Code::rejected, what);
    std::string version = "metadata/resourceVersion";
    if (json->text(version) != Json::parse(old)->text(version))
        return fail(Code::conflict, "HTTP 409");
    auto part = json_text(status ? body : old, "status");
    std::string made = status ? old : body;
    if (part)
        made = json_with(made, "status", *part);
    auto was = json_text(old, "status/allocation");
    auto is = json_text(made, "status/allocation");
    if (was && is && *was != *is)
        return fail(Code::rejected, "HTTP 422: field is immutable");
    if (status && is) // it remembers who wrote that
        made = json_with(
            made, "metadata",
            json_with(*json_text(made, "metadata"), "managedFields",
                      R"([{"manager":"slurmk8sd","subresource":"status",)"
                      R"("fieldsV1":{"f:status":{"f:allocation":{}}}}])"));
    put_claim(made);
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return ClaimText{resource_claim_from(*Json::parse(claim(key)), claim(key)),
                     claim(key)};
}

Result<ClaimText> FakeKube::create_claim(const std::string &ns,
                                         const std::string &body)
{
    auto json = Json::parse(body);
    ObjectKey key{ns, json ? json->text("metadata/name") : ""};
    auto [mishap, error] = next_mishap({"create_claim", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    if (key.name.empty() || json->text("metadata/namespace") != ns)
        return fail(Code::rejected, "HTTP 400");
    if (!claim(key).empty())
        return fail(Code::conflict, "HTTP 409: already exists");
    put_claim(json_with(
        body, "metadata",
        json_with(*json_text(body, "metadata"), "uid",
                  JsonValue("uid-of-claim-" + std::to_string(++claim_uids_))
                      .dump())));
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return ClaimText{resource_claim_from(*Json::parse(claim(key)), claim(key)),
                     claim(key)};
}

// One with a finalizer stays until that is taken off, which is not played here.
Result<> FakeKube::delete_claim(const ObjectKey &key, const std::string &uid)
{
    auto [mishap, error] = next_mishap({"delete_claim", key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::string text = claim(key);
    if (!text.empty()) {
        ResourceClaim there = resource_claim_from(*Json::parse(text), text);
        if (there.uid == uid && there.has_finalizer)
            put_claim(json_with(text, "metadata",
                                json_with(*json_text(text, "metadata"),
                                          "deletionTimestamp",
                                          R"("2026-11-22T08:00:00Z")")));
        else if (there.uid == uid)
            erase_claim(key);
    }
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return {};
}

Result<bool> FakeKube::set_extended_claim(const Pod &pod,
                                          const ExtendedClaimStatus &status)
{
    std::string detail = status.claim;
    for (const RequestMapping &one : status.mappings)
        detail += " " + one.container + ":" + one.resource + "=" + one.request;
    auto said = act({"set_extended_claim", pod.key, detail}, pod,
                    [&](Pod &there) -> Result<> {
                        if (keeps_extended)
                            there.extended_claim = status.claim;
                        return {};
                    });
    if (!said)
        return std::unexpected(said.error());
    return keeps_extended;
}

Result<Workload> FakeKube::get_owner(const std::string &ns,
                                     const OwnerRef &owner)
{
    auto [mishap, error] =
        next_mishap({"get_owner", {ns, owner.name}, owner.kind});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::lock_guard lock(mutex_);
    auto found = workloads.find(owner.uid);
    if (found == workloads.end())
        return fail(Code::not_found, "no " + owner.kind);
    return found->second;
}

Result<> FakeKube::post_event(const Pod &pod, const PodEvent &event)
{
    auto [mishap, error] = next_mishap({"post_event", pod.key, event.reason});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::lock_guard lock(mutex_);
    events_.emplace_back(pod.key, event);
    return {};
}

Result<> FakeKube::patch_node(const NodePatch &patch)
{
    auto [mishap, error] =
        next_mishap({"patch_node", {"", patch.node}, patch.resource_version});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    return on_node_patch ? on_node_patch(patch) : Result<>{};
}

Result<> FakeKube::patch_group(const GroupPatch &patch)
{
    auto [mishap, error] =
        next_mishap({"patch_group", patch.key,
                     patch.condition.status + patch.status.phase});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    return on_group_patch ? on_group_patch(patch) : Result<>{};
}

Result<> FakeKube::post_node_event(const Node &node, const PodEvent &event)
{
    auto [mishap, error] =
        next_mishap({"post_event", {"", node.name}, event.reason});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::lock_guard lock(mutex_);
    events_.emplace_back(ObjectKey{"", node.name}, event);
    return {};
}

Result<> FakeKube::act(const Call &call, const Pod &pod, const Write &write)
{
    auto [mishap, error] = next_mishap(call);
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    auto said = write_to(pod, write);
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return said;
}

Result<> FakeKube::write_to(const Pod &pod, const Write &write)
{
    Pod written;
    {
        std::lock_guard lock(mutex_);
        auto found = pods_.find(pod.key);
        if (found == pods_.end())
            return fail(Code::not_found, "no Pod=" + pod.key.str());
        if (found->second.uid != pod.uid)
            return fail(Code::conflict, "another Pod has this name");
        if (auto said = write(found->second); !said)
            return said;
        found->second.resource_version = std::to_string(++version_);
        written = found->second;
    }
    tell(written, false);
    return {};
}

std::pair<FakeKube::Mishap, Error> FakeKube::next_mishap(const Call &call)
{
    std::lock_guard lock(mutex_);
    calls_.push_back(call);
    auto &waiting = mishaps_[call.what];
    if (waiting.empty())
        return {Mishap::none, {}};
    auto next = waiting.front();
    waiting.pop_front();
    return next;
}

void FakeKube::tell(const Pod &pod, bool deleted) const
{
    std::unique_lock lock(mutex_);
    OnChange callback = on_change_;
    lock.unlock();
    if (callback)
        callback(pod, deleted);
}

} // namespace bridge
