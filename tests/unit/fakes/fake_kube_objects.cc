// SPDX-License-Identifier: GPL-2.0-or-later
// FakeKube's answers to calls for all that is neither Pod nor ResourceClaim.
#include "tests/unit/fakes/fake_kube.h"

#include "common/base/json_text.h"

namespace bridge {

std::string FakeKube::secret(const ObjectKey &key) const
{
    std::lock_guard lock(mutex_);
    auto found = secrets_.find(key);
    return found == secrets_.end() ? "" : found->second;
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

Result<> FakeKube::create_service(const ObjectKey &key, const std::string &body)
{
    return create_named("create_service", services, key, body);
}

Result<> FakeKube::create_config_map(const ObjectKey &key,
                                     const std::string &body)
{
    return create_named("create_config_map", config_maps, key, body);
}

Result<> FakeKube::create_named(const char *what,
                                std::map<ObjectKey, std::string> &all,
                                const ObjectKey &key, const std::string &body)
{
    auto [mishap, error] = next_mishap({what, key, ""});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    auto uid = JsonValue("uid-" + std::to_string(count(what))).dump();
    auto metadata = json_text(body, "metadata").value_or("{}");
    auto object = json_with(body, "metadata", json_with(metadata, "uid", uid));
    std::lock_guard lock(mutex_);
    bool made = all.try_emplace(key, object).second;
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    if (!made)
        return fail(Code::conflict, "HTTP 409: " + key.str() + " is there");
    return {};
}

Result<Json> FakeKube::get_service(const ObjectKey &key)
{
    return get_named("get_service", services, key);
}

Result<Json> FakeKube::get_config_map(const ObjectKey &key)
{
    return get_named("get_config_map", config_maps, key);
}

Result<std::string> FakeKube::get_config_map_uid(const ObjectKey &key)
{
    auto map = get_named("get_config_map_uid", config_maps, key);
    if (!map)
        return std::unexpected(map.error());
    return map->text("metadata/uid");
}

Result<Json> FakeKube::get_named(const char *what,
                                 const std::map<ObjectKey, std::string> &all,
                                 const ObjectKey &key)
{
    auto [mishap, error] = next_mishap({what, key, ""});
    if (mishap != Mishap::none)
        return std::unexpected(error);
    std::lock_guard lock(mutex_);
    auto found = all.find(key);
    if (found == all.end())
        return fail(Code::not_found, "HTTP 404: " + key.str());
    return Json::parse(found->second);
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

Result<> FakeKube::post_event(const Pod &pod, const PodEvent &event)
{
    auto [mishap, error] = next_mishap({"post_event", pod.key, event.reason});
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    std::lock_guard lock(mutex_);
    events_.emplace_back(pod.key, event);
    return {};
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

} // namespace bridge
