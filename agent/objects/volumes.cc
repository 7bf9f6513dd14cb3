// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/volumes.h"

#include "agent/objects/objects.h"
#include "agent/objects/pod_placement.h"
#include "common/base/units.h"
#include "common/contract/names.h"

#include <algorithm>
#include <tuple>

namespace bridge {

namespace {

std::int64_t bytes_of(const Json &amount)
{
    auto bytes = parse_bytes(amount.text());
    return bytes ? bytes->value : 0;
}

std::set<std::string> words_of(const Json &list)
{
    std::set<std::string> words;
    for (const Json &item : list.items())
        words.insert(item.text());
    return words;
}

std::string text_or(const Json &object, std::string_view path,
                    const char *otherwise)
{
    std::string text = object.text(path);
    return text.empty() ? otherwise : text;
}

bool has_labels(const Claim &claim, const Volume &volume)
{
    return std::ranges::all_of(claim.match_labels, [&](const auto &label) {
        auto found = volume.labels.find(label.first);
        return found != volume.labels.end() && found->second == label.second;
    });
}

bool belongs_to(const Volume &volume, const Claim &claim)
{
    return volume.claimed_by == claim.ns + "/" + claim.name &&
           (volume.claimed_uid.empty() || volume.claimed_uid == claim.uid);
}

// Returns true if the volume may be given to the claim, ignoring where it can
// be reached.
bool suits(const Volume &volume, const Claim &claim)
{
    if (volume.deleting)
        return false;
    if (!volume.claimed_by.empty())
        return belongs_to(volume, claim);
    return volume.phase == "Available" &&
           volume.storage_class == claim.storage_class.value_or("") &&
           volume.volume_mode == claim.volume_mode &&
           volume.storage >= claim.storage && !claim.odd_selector &&
           std::ranges::includes(volume.access_modes, claim.access_modes) &&
           has_labels(claim, volume);
}

bool reaches(const std::optional<NodeSelector> &affinity, const Node &node)
{
    return !affinity || matches(*affinity, node);
}

// Returns the terms of all suitable volumes. Nothing: one of them is reachable
// from everywhere.
std::optional<NodeSelector> places_of(const Claim &claim,
                                      const VolumeFacts &facts)
{
    NodeSelector anywhere;
    for (const auto &[name, volume] : facts.volumes) {
        if (!suits(volume, claim))
            continue;
        if (!volume.affinity)
            return std::nullopt;
        std::ranges::copy(*volume.affinity, std::back_inserter(anywhere));
    }
    return anywhere;
}

std::string waiting_for(const std::string &claim, const std::string &reason)
{
    return "The volume claim " + claim + " " + reason + ".";
}

// Returns why the Pod has to wait for the claim. Empty: the claim is bound, or
// is unbound with a known class.
std::string claim_wait_reason(const ClaimRef &ref, const std::string &pod_uid,
                              const VolumeFacts &facts)
{
    auto known = facts.claims.find(ref.name);
    if (known == facts.claims.end())
        return waiting_for(ref.name, "does not exist yet");
    const Claim &claim = known->second;
    if (ref.ephemeral && claim.owner_uid != pod_uid)
        return waiting_for(ref.name, "was not made for this Pod");
    if (claim.deleting)
        return waiting_for(ref.name, "is being deleted");
    if (claim.phase == "Lost")
        return waiting_for(ref.name, "has lost its volume");
    if (claim.bound)
        return facts.volumes.contains(claim.volume)
                   ? ""
                   : waiting_for(ref.name, "is bound to a volume that does "
                                           "not exist");
    if (!claim.storage_class)
        return waiting_for(ref.name, "has no StorageClass");
    auto storage_class = facts.classes.find(*claim.storage_class);
    if (storage_class == facts.classes.end())
        return claim.storage_class->empty()
                   ? waiting_for(ref.name, "is not bound to a volume yet")
                   : waiting_for(ref.name, "names the StorageClass " +
                                               *claim.storage_class +
                                               ", which does not exist");
    if (!storage_class->second.waits_for_consumer)
        return waiting_for(ref.name, "is not bound to a volume yet");
    return {};
}

// Returns where the volume of the claim is or can be created. Nothing:
// everywhere.
std::optional<NodeSelector> places(const Claim &claim, const VolumeFacts &facts)
{
    if (claim.bound)
        return facts.volumes.at(claim.volume).affinity;
    const StorageClass &of = facts.classes.at(*claim.storage_class);
    if (of.provisioner == no_provisioner)
        return places_of(claim, facts);
    return of.has_topologies ? std::optional(of.topologies) : std::nullopt;
}

// Returns the smallest suitable volume that can be reached, the first by name
// of equal ones, as kube-scheduler does. A volume that has already been given
// to the claim comes first.
const Volume *volume_for(const Claim &claim, const VolumeFacts &facts,
                         const Node &node, const std::set<std::string> &taken)
{
    const Volume *best = nullptr;
    auto rank = [&](const Volume &v) {
        return std::tuple(!belongs_to(v, claim), v.storage, v.name);
    };
    for (const auto &[name, volume] : facts.volumes)
        if (suits(volume, claim) && reaches(volume.affinity, node) &&
            !taken.contains(name) && (!best || rank(volume) < rank(*best)))
            best = &volume;
    return best;
}

} // namespace

std::vector<ClaimRef> claims_of(const Json &pod)
{
    std::vector<ClaimRef> claims;
    for (const Json &volume : pod.items("spec/volumes")) {
        if (volume.at("persistentVolumeClaim").present())
            claims.push_back(
                {volume.text("persistentVolumeClaim/claimName"), false});
        else if (volume.at("ephemeral").present())
            claims.push_back(
                {pod.text("metadata/name") + "-" + volume.text("name"), true});
    }
    return claims;
}

Claim claim_from(const Json &object)
{
    Claim claim;
    Json metadata = object.at("metadata");
    Json spec = object.at("spec");
    claim.ns = metadata.text("namespace");
    claim.name = metadata.text("name");
    claim.uid = metadata.text("uid");
    claim.resource_version = metadata.text("resourceVersion");
    claim.deleting = !metadata.text("deletionTimestamp").empty();
    for (const Json &owner : metadata.items("ownerReferences"))
        if (owner.flag("controller"))
            claim.owner_uid = owner.text("uid");
    auto annotations = metadata.texts("annotations");
    claim.selected_node = annotations[names::selected_node_annotation];
    claim.phase = object.text("status/phase");
    claim.volume = spec.text("volumeName");
    claim.bound = claim.phase == "Bound" && !claim.volume.empty();
    if (spec.at("storageClassName").present())
        claim.storage_class = spec.text("storageClassName");
    claim.access_modes = words_of(spec.at("accessModes"));
    claim.volume_mode = text_or(spec, "volumeMode", "Filesystem");
    claim.storage = bytes_of(spec.at("resources/requests/storage"));
    claim.match_labels = spec.texts("selector/matchLabels");
    claim.odd_selector = !spec.items("selector/matchExpressions").empty();
    return claim;
}

Volume volume_from(const Json &object)
{
    Volume volume;
    Json metadata = object.at("metadata");
    Json spec = object.at("spec");
    volume.name = metadata.text("name");
    volume.uid = metadata.text("uid");
    volume.resource_version = metadata.text("resourceVersion");
    volume.deleting = !metadata.text("deletionTimestamp").empty();
    volume.labels = metadata.texts("labels");
    volume.phase = object.text("status/phase");
    volume.storage_class = spec.text("storageClassName");
    if (spec.at("claimRef").is_object())
        volume.claimed_by =
            spec.text("claimRef/namespace") + "/" + spec.text("claimRef/name");
    volume.claimed_uid = spec.text("claimRef/uid");
    volume.access_modes = words_of(spec.at("accessModes"));
    volume.volume_mode = text_or(spec, "volumeMode", "Filesystem");
    volume.storage = bytes_of(spec.at("capacity/storage"));
    if (Json required = spec.at("nodeAffinity/required"); required.is_object())
        volume.affinity =
            node_selector(required).value_or(NodeSelector{}); // none: nowhere
    return volume;
}

StorageClass storage_class_from(const Json &object)
{
    StorageClass made;
    made.name = object.text("metadata/name");
    made.provisioner = object.text("provisioner");
    made.waits_for_consumer =
        object.text("volumeBindingMode") == "WaitForFirstConsumer";
    for (const Json &topology : object.items("allowedTopologies")) {
        NodeTerm term;
        for (const Json &item : topology.items("matchLabelExpressions")) {
            NodeRequirement label{
                item.text("key"), false, NodeOperator::in, {}};
            for (const Json &value : item.items("values"))
                label.values.push_back(value.text());
            term.push_back(std::move(label));
        }
        made.has_topologies = true;
        made.topologies.push_back(std::move(term));
    }
    normalize(made.topologies);
    return made;
}

VolumeNeeds volume_needs(const std::vector<ClaimRef> &claims,
                         const std::string &pod_uid, const VolumeFacts &facts)
{
    VolumeNeeds needs;
    for (const ClaimRef &ref : claims) {
        needs.reason = claim_wait_reason(ref, pod_uid, facts);
        if (!needs.reason.empty())
            return needs;
        const Claim &claim = facts.claims.at(ref.name);
        needs.unbound |= !claim.bound;
        auto where = places(claim, facts);
        if (where && where->empty() && !claim.bound) {
            needs.reason =
                waiting_for(ref.name, "finds no free volume that fits");
            return needs;
        }
        if (where)
            needs.selectors.push_back(std::move(*where)); // made normal by
                                                          // Predicate::make
    }
    return needs;
}

Result<std::vector<ClaimStep>> claim_steps(const std::vector<ClaimRef> &claims,
                                           const VolumeFacts &facts,
                                           const Node &node)
{
    std::vector<ClaimStep> steps;
    std::set<std::string> taken;
    for (const ClaimRef &ref : claims) {
        const Claim &claim = facts.claims.at(ref.name);
        if (claim.bound)
            continue;
        const StorageClass &of = facts.classes.at(*claim.storage_class);
        if (of.provisioner != no_provisioner) {
            if (claim.selected_node != node.name)
                steps.push_back({ref.name, {}});
            continue;
        }
        const Volume *volume = volume_for(claim, facts, node, taken);
        if (!volume)
            return fail(Code::conflict,
                        "no free volume for the claim " + ref.name +
                            " can be reached from the Node " + node.name);
        taken.insert(volume->name);
        if (!belongs_to(*volume, claim) || volume->claimed_uid.empty())
            steps.push_back({ref.name, volume->name});
    }
    return steps;
}

} // namespace bridge
