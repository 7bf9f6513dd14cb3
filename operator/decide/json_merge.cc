// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/json_merge.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace bridge::slinky {

namespace {

std::string merge(const Json &ours, const Json &theirs, std::string_view name);

bool is_null(const Json &value)
{
    return !value.present() ||
           (!value.is_object() && !value.is_array() && value.dump() == "null");
}

// What tells apart the items of a list, as in the API of Kubernetes. "" for
// lists to which items are added; nothing for those that are replaced.
std::optional<std::string> list_key(std::string_view name)
{
    static const std::vector<std::pair<std::string_view, std::string>> keys{
        {"containers", "name"},
        {"initContainers", "name"},
        {"volumes", "name"},
        {"env", "name"},
        {"imagePullSecrets", "name"},
        {"volumeMounts", "mountPath"},
        {"ports", "containerPort"},
        {"args", ""},
        {"tolerations", ""},
        {"requiredDuringSchedulingIgnoredDuringExecution", ""}};
    for (const auto &[list, key] : keys)
        if (list == name)
            return key;
    return std::nullopt;
}

std::string merge_objects(const Json &ours, const Json &theirs)
{
    JsonMembers made;
    for (const auto &[name, value] : ours.members())
        put(made, name, merge(value, theirs.member(name), name));
    for (const auto &[name, value] : theirs.members())
        if (!ours.member(name).present())
            put(made, name, value.dump());
    return json_object(made);
}

std::string merge_lists(const Json &ours, const Json &theirs,
                        const std::string &key)
{
    std::vector<std::string> made;
    std::vector<std::string> names;
    for (const Json &item : ours.items()) {
        made.push_back(item.dump());
        names.push_back(key.empty() ? "" : item.member(key).dump());
    }
    for (const Json &item : theirs.items()) {
        auto same = key.empty()
                        ? names.end()
                        : std::ranges::find(names, item.member(key).dump());
        auto place = static_cast<std::size_t>(same - names.begin());
        if (same != names.end() && place < ours.items().size())
            made[place] = merge(ours.items()[place], item, {});
        else
            made.push_back(item.dump());
    }
    return json_array(made);
}

std::string merge(const Json &ours, const Json &theirs, std::string_view name)
{
    if (is_null(theirs))
        return ours.dump();
    if (ours.is_object() && theirs.is_object())
        return merge_objects(ours, theirs);
    if (ours.is_array() && theirs.is_array())
        if (auto key = list_key(name))
            return merge_lists(ours, theirs, *key);
    return theirs.dump();
}

} // namespace

std::string merged(const Json &ours, const Json &theirs)
{
    return merge(ours, theirs, {});
}

JsonMembers members_of(const Json &object)
{
    JsonMembers made;
    for (const auto &[name, value] : object.members())
        made.emplace_back(name, value.dump());
    return made;
}

void put(JsonMembers &members, std::string_view name, std::string json)
{
    auto found =
        std::ranges::find(members, name, &JsonMembers::value_type::first);
    if (found == members.end())
        members.emplace_back(name, std::move(json));
    else
        found->second = std::move(json);
}

void drop(JsonMembers &members, std::string_view name)
{
    std::erase_if(members,
                  [&](const auto &member) { return member.first == name; });
}

Json read_own(const std::string &json)
{
    return Json::parse(json).value_or(Json());
}

} // namespace bridge::slinky
