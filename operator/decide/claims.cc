// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/claims.h"

#include "common/base/ascii.h"
#include "common/base/json_text.h"
#include "common/contract/worker_names.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/metadata.h"
#include "operator/decide/names.h"

#include <algorithm>
#include <set>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::size_t longest_volume = 63; // RFC 1123
constexpr std::size_t most_templates = 32;
constexpr char policy[] = "persistentVolumeClaimRetentionPolicy/";

std::string path_of(const Key &key)
{
    return "/api/v1/namespaces/" + key.ns + "/persistentvolumeclaims/" +
           key.name;
}

std::vector<Json> templates_of(const NodeSet &set)
{
    return set.spec.items("volumeClaimTemplates");
}

std::string volume_of(const Json &one)
{
    return one.text("metadata/name");
}

bool is_volume_name(const std::string &name)
{
    return !name.empty() && name.size() <= longest_volume &&
           name.front() != '-' && name.back() != '-' &&
           std::ranges::all_of(
               name, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool says_delete(const NodeSet &set, const char *when)
{
    return set.spec.text(std::string(policy) + when) == "Delete";
}

Step make_claim(const NodeSet &set, const Json &one, const std::string &pod)
{
    Key key{set.meta.key.ns, volume_of(one) + "-" + pod};
    TextMap labels = one.texts("metadata/labels");
    labels[names::app_label] = "slurmd";
    labels[names::instance_label] = set.meta.key.name;
    labels[names::cluster_label] = set.controller;
    labels[names::worker_name_label] = pod;
    auto metadata = JsonValue::object(
        {{"name", key.name},
         {"namespace", key.ns},
         {"labels", texts_json(labels)},
         {"annotations", texts_json(one.texts("metadata/annotations"))}});
    if (says_delete(set, "whenDeleted"))
        metadata.add("ownerReferences", owned_by(set));
    Step step{Step::Verb::create, "create PersistentVolumeClaim " + key.name,
              "/api/v1/namespaces/" + key.ns + "/persistentvolumeclaims",
              json_object({{"apiVersion", "\"v1\""},
                           {"kind", "\"PersistentVolumeClaim\""},
                           {"metadata", metadata.dump()},
                           {"spec", one.at("spec").dump()}})};
    step.may_exist = true; // somebody may have made it beforehand
    return step;
}

std::vector<const Claim *> claims_of(const Known &known, const NodeSet &set)
{
    std::vector<const Claim *> found;
    for (const auto &[key, claim] : known.claims) {
        auto owner = claim.meta.labels.find(names::instance_label);
        if (key.ns == set.meta.key.ns && !claim.meta.deleting &&
            owner != claim.meta.labels.end() &&
            owner->second == set.meta.key.name &&
            claim.meta.labels.contains(names::worker_name_label))
            found.push_back(&claim);
    }
    return found;
}

// Whether the garbage collector takes the claim along with the NodeSet. One
// that others own is left as it is.
void follow_policy(const NodeSet &set, const Claim &claim,
                   std::vector<Step> &steps)
{
    bool owned = std::ranges::contains(claim.owners, set.meta.uid);
    bool wanted = says_delete(set, "whenDeleted");
    if (owned == wanted || claim.owners.size() > (owned ? 1 : 0))
        return;
    auto metadata = JsonValue::object(
        {{"uid", claim.meta.uid}, {"resourceVersion", claim.meta.version}});
    metadata.add("ownerReferences", wanted ? owned_by(set) : JsonValue());
    steps.push_back(
        {Step::Verb::patch,
         "set the owner of PersistentVolumeClaim " + claim.meta.key.name,
         path_of(claim.meta.key),
         JsonValue::object({{"metadata", metadata}}).dump()});
}

} // namespace

std::string wrong_claims(const NodeSet &set)
{
    std::set<std::string> seen;
    auto templates = templates_of(set);
    if (templates.size() > most_templates)
        return "volumeClaimTemplates has more than 32 items.";
    for (const Json &one : templates) {
        std::string name = volume_of(one);
        if (!is_volume_name(name))
            return "Each of volumeClaimTemplates needs a metadata.name of at "
                   "most 63 lower-case letters, digits and '-'.";
        if (name == "slurm-etc" || !seen.insert(name).second)
            return "volumeClaimTemplates cannot have \"" + name +
                   "\": another volume of the Pod has this name.";
        if (!one.at("spec").is_object())
            return "volumeClaimTemplates \"" + name + "\" has no spec.";
    }
    return {};
}

std::string with_claims(const NodeSet &set, const std::string &pod,
                        const std::vector<Json> &volumes)
{
    std::vector<std::string> made;
    std::set<std::string> names;
    for (const Json &one : templates_of(set)) {
        std::string name = volume_of(one);
        names.insert(name);
        auto claim = JsonValue::object({{"claimName", name + "-" + pod}});
        made.push_back(
            JsonValue::object(
                {{"name", name}, {"persistentVolumeClaim", std::move(claim)}})
                .dump());
    }
    for (const Json &volume : volumes)
        if (!names.contains(volume.text("name")))
            made.push_back(volume.dump());
    return json_array(made);
}

std::string leaving_claim(const Known &known, const NodeSet &set,
                          const std::string &pod)
{
    for (const Json &one : templates_of(set)) {
        auto claim =
            known.claims.find({set.meta.key.ns, volume_of(one) + "-" + pod});
        if (claim != known.claims.end() && claim->second.meta.deleting)
            return claim->first.name;
    }
    return {};
}

std::vector<Step> make_claims(const Known &known, const NodeSet &set,
                              const std::string &pod)
{
    std::vector<Step> steps;
    for (const Json &one : templates_of(set))
        if (!known.claims.contains(
                {set.meta.key.ns, volume_of(one) + "-" + pod}))
            steps.push_back(make_claim(set, one, pod));
    return steps;
}

std::vector<Step> keep_claims(const Known &known, const NodeSet &set,
                              bool settled)
{
    std::vector<Step> steps;
    bool drops = settled && says_delete(set, "whenScaled");
    for (const Claim *claim : claims_of(known, set)) {
        const Key &key = claim->meta.key;
        const std::string &pod =
            claim->meta.labels.at(names::worker_name_label);
        if (!drops || known.workers.contains({key.ns, pod}))
            follow_policy(set, *claim, steps);
        else
            steps.push_back({Step::Verb::remove,
                             "delete PersistentVolumeClaim " + key.name,
                             path_of(key), delete_body(claim->meta)});
    }
    return steps;
}

} // namespace bridge::slinky
