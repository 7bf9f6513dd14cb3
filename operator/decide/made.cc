// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/made.h"

#include "common/base/stable_hash.h"
#include "common/contract/worker_names.h"
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

bool is_there(const Made *made, const std::string &hash)
{
    if (!made || made->meta.deleting)
        return false;
    auto found = made->meta.annotations.find(names::applied_annotation);
    return found != made->meta.annotations.end() && found->second == hash;
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
    if (is_there(find_made(known, owner, wanted.kind, wanted.name), hash))
        return std::nullopt;
    TextMap annotations = wanted.annotations;
    annotations[names::applied_annotation] = hash;
    const MadeKind &kind = kind_of(wanted.kind);
    return Step{
        Step::Verb::apply, std::format("apply {} {}", wanted.kind, wanted.name),
        applied(std::format("{}/namespaces/{}/{}/{}", kind.api,
                            owner.meta.key.ns, kind.plural, wanted.name)),
        body_of(owner, wanted, annotations)};
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
