// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/revisions.h"

#include "common/base/json_text.h"
#include "common/contract/worker_names.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/metadata.h"

#include <algorithm>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::int64_t longest_history = 100;

std::string path_of(const Key &key)
{
    return "/apis/apps/v1/namespaces/" + key.ns + "/controllerrevisions/" +
           key.name;
}

std::vector<const Revision *> revisions_of(const Known &known,
                                           const NodeSet &set)
{
    std::vector<const Revision *> found;
    for (const auto &[key, revision] : known.revisions)
        if (key.ns == set.meta.key.ns && !set.meta.uid.empty() &&
            revision.meta.controller == set.meta.uid)
            found.push_back(&revision);
    std::ranges::sort(found, {}, &Revision::number);
    return found;
}

// The part of the spec of which Pods are made: as a patch of the NodeSet it
// brings the template back.
std::string data_of(const NodeSet &set)
{
    JsonMembers spec;
    for (const char *name : {"slurmd", "template", "extraConf",
                             "oversubscribeNode", "volumeClaimTemplates"})
        if (Json value = set.spec.member(name); value.present())
            put(spec, name, value.dump());
    return json_object({{"spec", json_object(spec)}});
}

} // namespace

std::vector<Step> keep_revision(const Known &known, const NodeSet &set,
                                const std::string &hash)
{
    auto there = revisions_of(known, set);
    Key key{set.meta.key.ns, set.meta.key.name + "-" + hash};
    if (!there.empty() && there.back()->meta.key == key)
        return {};
    std::int64_t number = there.empty() ? 1 : there.back()->number + 1;
    std::string what = "write ControllerRevision " + key.name;
    if (auto found = known.revisions.find(key);
        found != known.revisions.end()) {
        // Of a NodeSet that had this name: it is on its way out.
        if (found->second.meta.controller != set.meta.uid)
            return {};
        return {{Step::Verb::patch, what, path_of(key),
                 JsonValue::object({{"revision", number}}).dump()}};
    }
    auto labels = JsonValue::object({{names::app_label, "slurmd"},
                                     {names::instance_label, set.meta.key.name},
                                     {names::cluster_label, set.controller},
                                     {names::revision_label, hash}});
    auto metadata = JsonValue::object({{"name", key.name},
                                       {"namespace", key.ns},
                                       {"labels", std::move(labels)},
                                       {"ownerReferences", owned_by(set)}});
    return {{Step::Verb::apply, what, applied(path_of(key)),
             json_object({{"apiVersion", "\"apps/v1\""},
                          {"kind", "\"ControllerRevision\""},
                          {"metadata", metadata.dump()},
                          {"data", data_of(set)},
                          {"revision", std::to_string(number)}})}};
}

std::vector<Step> drop_revisions(const Known &known, const NodeSet &set,
                                 const std::string &hash,
                                 const std::vector<const Worker *> &workers)
{
    auto in_use = [&](const Revision *revision) {
        auto carried = revision->meta.labels.find(names::revision_label);
        if (carried == revision->meta.labels.end())
            return false;
        return carried->second == hash ||
               std::ranges::any_of(workers, [&](const Worker *worker) {
                   auto own = worker->meta.labels.find(names::revision_label);
                   return own != worker->meta.labels.end() &&
                          own->second == carried->second;
               });
    };
    auto old = revisions_of(known, set);
    std::erase_if(old, in_use);
    auto limit = static_cast<std::size_t>(std::clamp<std::int64_t>(
        set.spec.integer("revisionHistoryLimit").value_or(0), 0,
        longest_history));
    std::vector<Step> steps;
    for (std::size_t i = 0; i + limit < old.size(); i++)
        if (!old[i]->meta.deleting)
            steps.push_back(
                {Step::Verb::remove,
                 "delete ControllerRevision " + old[i]->meta.key.name,
                 path_of(old[i]->meta.key), delete_body(old[i]->meta)});
    return steps;
}

} // namespace bridge::slinky
