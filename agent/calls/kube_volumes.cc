// SPDX-License-Identifier: GPL-2.0-or-later
// KubeApi's requests for volumes and volume claims.
#include "agent/calls/kube_api.h"

#include "agent/calls/volume_list.h"
#include "common/contract/names.h"
#include "common/kube/status.h"
#include "common/kube/text.h"

#include <set>

namespace bridge {

namespace {

constexpr char page_size[] = "500";
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

// Reads all volumes, a page at a time.
Result<VolumeList::Known> list_volumes(GatedHttp &http)
{
    const std::string all =
        std::string("/api/v1/persistentvolumes?limit=") + page_size;
    VolumeList::Known known;
    std::string next;
    do {
        auto page = object_in(
            http.get(next.empty() ? all
                                  : all + "&continue=" + url_encode(next)),
            "list volumes");
        if (!page)
            return std::unexpected(page.error());
        if (page->text("kind") != "PersistentVolumeList")
            return fail(Code::internal, "list volumes: not a list");
        for (const Json &item : page->items("items"))
            add_volume(known, volume_from(item));
        next = page->text("metadata/continue");
    } while (!next.empty());
    return known;
}

// Returns the names of those that the claim has got or may get. One that names
// an earlier claim of this name is never for it.
std::set<std::string> volumes_of(const Claim &claim,
                                 const VolumeList::View &view)
{
    const std::string name = claim.ns + "/" + claim.name;
    std::set<std::string> names;
    auto [first, last] = view.known->meant.equal_range(name);
    for (auto meant = first; meant != last; ++meant)
        if (meant->second.uid.empty() || meant->second.uid == claim.uid)
            names.insert(meant->second.volume);
    for (const auto &[volume, to] : view.given)
        if (to == name)
            names.insert(volume);
    return names;
}

// Reads one Pod's claims, their volumes and classes.
class Reader {
  public:
    Reader(GatedHttp &http, const std::string &ns, VolumeList &volumes)
        : http_(http), ns_(ns), volumes_(volumes)
    {
    }

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
        return claim.storage_class ? read_class(claim) : Result<>{};
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

    Result<> read_class(const Claim &claim)
    {
        const std::string &name = *claim.storage_class;
        if (!is_object_name(name))
            return {};
        auto json = get_object(http_, class_path(name));
        if (!json)
            return std::unexpected(json.error());
        if (!json->present())
            return {};
        StorageClass made = facts.classes[name] = storage_class_from(*json);
        if (made.waits_for_consumer && made.provisioner == no_provisioner)
            return find_free(claim);
        return {};
    }

    // A volume that the claim has got, or may have, is read by itself: it must
    // not get another one because the list is old.
    Result<> find_free(const Claim &claim)
    {
        auto view =
            volumes_.view(Clock::now(), [this] { return list_volumes(http_); });
        if (!view)
            return std::unexpected(view.error());
        for (const auto &[name, volume] : view->known->free)
            if (volume.storage_class == claim.storage_class &&
                !view->given.contains(name))
                facts.volumes.emplace(name, volume);
        for (const std::string &name : volumes_of(claim, *view))
            if (auto read = read_volume(name); !read)
                return read;
        return {};
    }

    GatedHttp &http_;
    const std::string &ns_;
    VolumeList &volumes_;
};

} // namespace

Result<VolumeFacts> KubeApi::read_volumes(const Pod &pod)
{
    Reader reader(http_, pod.key.ns, *volumes_);
    for (const ClaimRef &claim : pod.claims) {
        if (auto read = reader.read(claim.name); !read)
            return std::unexpected(read.error());
        if (!reader.facts.claims.contains(claim.name))
            break; // the Pod waits for it, whatever the others are
    }
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
    const std::string to = claim.ns + "/" + claim.name;
    volumes_->give(volume.name, to, Clock::now());
    auto reply = http_.patch(Write::give_volume, volume_path(volume.name),
                             merge_patch, body);
    return check_write(reply, "give the volume " + volume.name +
                                  " to the claim " + to);
}

} // namespace bridge
