// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/made.h"

#include "common/base/stable_hash.h"
#include "common/contract/worker_names.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/metadata.h"

#include <algorithm>
#include <format>
#include <string_view>
#include <utility>

namespace bridge::slinky {

namespace {

const MadeKind &kind_of(std::string_view name)
{
    return *std::ranges::find(made_kinds, name, &MadeKind::kind);
}

// "/apis/apps/v1" is the version "apps/v1", and "/api/v1" is "v1".
std::string version_of(const MadeKind &kind)
{
    std::string_view path = kind.api;
    return std::string(path.substr(path.find('/', 1) + 1));
}

std::string body_of(const MadeFor &owner, const Wanted &wanted,
                    const TextMap &annotations)
{
    auto metadata = JsonValue::object(
        {{"name", wanted.name},
         {"namespace", owner.meta.key.ns},
         {"labels", texts_json(wanted.labels)},
         {"annotations", texts_json(annotations)},
         {"ownerReferences", owned_by(owner.kind, owner.meta)}});
    JsonMembers members{
        {"apiVersion", JsonValue(version_of(kind_of(wanted.kind))).dump()},
        {"kind", JsonValue(wanted.kind).dump()},
        {"metadata", metadata.dump()}};
    members.insert(members.end(), wanted.members.begin(), wanted.members.end());
    return json_object(members);
}

bool is_applied(const Made &made, const std::string &hash)
{
    auto found = made.meta.annotations.find(names::applied_annotation);
    return found != made.meta.annotations.end() && found->second == hash;
}

// Whether somebody has changed what was applied, as far as that is compared:
// files, and the number of Pods.
bool is_changed(const Made &made, const Wanted &wanted)
{
    Json body = read_own(json_object(wanted.members));
    if (wanted.kind == std::string_view("ConfigMap") &&
        (made.data != body.texts("data") ||
         made.binary_data != body.texts("binaryData")))
        return true;
    auto replicas = body.integer("spec/replicas");
    return replicas && made.replicas != *replicas;
}

// The files that are not to be there, as a merge patch would remove them.
JsonValue::Object removal(const TextMap &there, const TextMap &wanted)
{
    JsonValue::Object nulls;
    for (const auto &[name, text] : there)
        if (!wanted.contains(name))
            nulls.emplace_back(name, JsonValue());
    return nulls;
}

// An object that is applied keeps what others have put into it: slurm-operator,
// or a user. Nothing is returned if there is no such file.
std::optional<Step> remove_files(const Made &made, const Wanted &wanted)
{
    if (wanted.kind != std::string_view("ConfigMap"))
        return std::nullopt;
    Json body = read_own(json_object(wanted.members));
    auto data = removal(made.data, body.texts("data"));
    auto binaries = removal(made.binary_data, body.texts("binaryData"));
    if (data.empty() && binaries.empty())
        return std::nullopt;
    auto metadata = JsonValue::object(
        {{"uid", made.meta.uid}, {"resourceVersion", made.meta.version}});
    auto patch = JsonValue::object({{"metadata", std::move(metadata)}});
    if (!data.empty())
        patch.add("data", JsonValue::object(std::move(data)));
    if (!binaries.empty())
        patch.add("binaryData", JsonValue::object(std::move(binaries)));
    std::string what =
        std::format("remove files of others from ConfigMap {}", wanted.name);
    return Step{Step::Verb::patch, what, made_path(wanted.kind, made.meta.key),
                patch.dump(),
                Told{"Restored", std::format("Removed files from ConfigMap {} "
                                             "that are not to be there",
                                             wanted.name)}};
}

Told told_of(const Wanted &wanted, const Made *made, bool applied)
{
    std::string what = std::format("{} {}", wanted.kind, wanted.name);
    if (!made)
        return {"Created", "Created " + what};
    if (applied)
        return {"Restored", what + " was changed by somebody, and is again as "
                                   "it should be"};
    return {"Changed", "Changed " + what};
}

} // namespace

const Made *find_made(const Known &known, const MadeFor &owner,
                      const char *kind, const std::string &name)
{
    auto found = known.made.find({kind, {owner.meta.key.ns, name}});
    return found == known.made.end() ? nullptr : &found->second;
}

std::optional<Step> made_step(const Known &known, const MadeFor &owner,
                              const Wanted &wanted)
{
    std::string hash = std::format(
        "{:016x}", stable_hash(body_of(owner, wanted, wanted.annotations)));
    const Made *made = find_made(known, owner, wanted.kind, wanted.name);
    bool is_ours = made && is_applied(*made, hash);
    if (is_ours && !made->meta.deleting && !is_changed(*made, wanted))
        return std::nullopt;
    if (is_ours && !made->meta.deleting)
        if (auto step = remove_files(*made, wanted))
            return step;
    TextMap annotations = wanted.annotations;
    annotations[names::applied_annotation] = hash;
    return Step{
        Step::Verb::apply, std::format("apply {} {}", wanted.kind, wanted.name),
        applied(made_path(wanted.kind, {owner.meta.key.ns, wanted.name})),
        body_of(owner, wanted, annotations), told_of(wanted, made, is_ours)};
}

std::string made_path(const std::string &kind, const Key &key)
{
    const MadeKind &found = kind_of(kind);
    return std::format("{}/namespaces/{}/{}/{}", found.api, key.ns,
                       found.plural, key.name);
}

std::string refused(const std::vector<Step> &steps,
                    const std::map<std::string, std::string> &failures)
{
    for (const Step &step : steps)
        if (auto found = failures.find(step.what); found != failures.end())
            return "Cannot " + step.what + ": " + found->second;
    return {};
}

} // namespace bridge::slinky
