// SPDX-License-Identifier: GPL-2.0-or-later
// KubeApi's requests for volumes and volume claims.
#include "agent/calls/kube_api.h"

#include "common/contract/names.h"
#include "common/kube/status.h"
#include "common/kube/text.h"

namespace bridge {

namespace {

constexpr char merge_patch[] = "application/merge-patch+json";

std::string claim_path(const std::string &ns, const std::string &name)
{
    return "/api/v1/namespaces/" + ns + "/persistentvolumeclaims/" + name;
}

std::string volume_path(const std::string &name)
{
    return "/api/v1/persistentvolumes/" + name;
}

std::string class_path(const std::string &name)
{
    return "/apis/storage.k8s.io/v1/storageclasses/" + name;
}

// Returns a null value if there is none.
Result<Json> get_object(GatedHttp &http, const std::string &path)
{
    auto reply = http.get(path);
    if (reply && reply->status == 404)
        return Json{};
    return object_in(reply, "get " + path);
}

Result<> check_write(const Result<HttpReply> &reply, const std::string &what)
{
    if (!reply)
        return fail(reply.error(), what);
    if (auto said = check_status(*reply); !said)
        return fail(said.error(), what);
    return {};
}

// Reads one Pod's claims, their volumes and classes.
class Reader {
  public:
    Reader(GatedHttp &http, const std::string &ns) : http_(http), ns_(ns) {}

    Result<> read(const std::string &name)
    {
        if (facts.claims.contains(name) || !is_object_name(name))
            return {};
        auto json = get_object(http_, claim_path(ns_, name));
        if (!json)
            return std::unexpected(json.error());
        if (!json->present())
            return {};
        Claim claim = facts.claims[name] = claim_from(*json);
        if (claim.bound)
            return read_volume(claim.volume);
        return claim.storage_class ? read_class(*claim.storage_class)
                                   : Result<>{};
    }

    VolumeFacts facts;

  private:
    Result<> read_volume(const std::string &name)
    {
        if (!is_object_name(name))
            return {};
        auto json = get_object(http_, volume_path(name));
        if (!json)
            return std::unexpected(json.error());
        if (json->present())
            facts.volumes[name] = volume_from(*json);
        return {};
    }

    Result<> read_class(const std::string &name)
    {
        if (!is_object_name(name))
            return {};
        auto json = get_object(http_, class_path(name));
        if (!json)
            return std::unexpected(json.error());
        if (!json->present())
            return {};
        StorageClass made = facts.classes[name] = storage_class_from(*json);
        if (made.waits_for_consumer && made.provisioner == no_provisioner)
            return read_all_volumes();
        return {};
    }

    // The API cannot list the volumes of one class.
    Result<> read_all_volumes()
    {
        if (std::exchange(all_read_, true))
            return {};
        auto json = get_object(http_, "/api/v1/persistentvolumes");
        if (!json)
            return std::unexpected(json.error());
        for (const Json &item : json->items("items")) {
            Volume volume = volume_from(item);
            std::string name = volume.name;
            facts.volumes[name] = std::move(volume);
        }
        return {};
    }

    GatedHttp &http_;
    const std::string &ns_;
    bool all_read_ = false;
};

} // namespace

Result<VolumeFacts> KubeApi::read_volumes(const Pod &pod)
{
    Reader reader(http_, pod.key.ns);
    for (const ClaimRef &claim : pod.claims)
        if (auto read = reader.read(claim.name); !read)
            return std::unexpected(read.error());
    return std::move(reader.facts);
}

Result<> KubeApi::select_node(const Claim &claim, const std::string &node)
{
    std::string body =
        JsonValue::object(
            {{"metadata",
              JsonValue::object(
                  {{"uid", claim.uid},
                   {"resourceVersion", claim.resource_version},
                   {"annotations",
                    JsonValue::object(
                        {{names::selected_node_annotation, node}})}})}})
            .dump();
    return check_write(
        http_.patch(Write::select_node, claim_path(claim.ns, claim.name),
                    merge_patch, body),
        "select a node for the claim " + claim.ns + "/" + claim.name);
}

// Like kube-scheduler's volume binder: the controller completes the binding,
// and the annotation lets it remove the claim again when that is deleted.
Result<> KubeApi::give_volume(const Volume &volume, const Claim &claim)
{
    std::string body =
        JsonValue::object(
            {{"metadata",
              JsonValue::object(
                  {{"uid", volume.uid},
                   {"resourceVersion", volume.resource_version},
                   {"annotations",
                    JsonValue::object(
                        {{"pv.kubernetes.io/bound-by-controller", "yes"}})}})},
             {"spec", JsonValue::object(
                          {{"claimRef", JsonValue::object(
                                            {{"apiVersion", "v1"},
                                             {"kind", "PersistentVolumeClaim"},
                                             {"namespace", claim.ns},
                                             {"name", claim.name},
                                             {"uid", claim.uid}})}})}})
            .dump();
    return check_write(http_.patch(Write::give_volume, volume_path(volume.name),
                                   merge_patch, body),
                       "give the volume " + volume.name + " to the claim " +
                           claim.ns + "/" + claim.name);
}

} // namespace bridge
