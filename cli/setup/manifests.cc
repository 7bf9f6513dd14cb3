// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/manifests.h"

#include "common/base/conf_lines.h"
#include "common/base/json.h"
#include "common/base/text.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace bridge {

namespace {

constexpr std::string_view no_namespace = "-"; // in remembered text
constexpr std::string_view old_variant = "-1.35";

// These are MutatingAdmissionPolicies.
bool mutates(std::string_view component)
{
    return component == "adopt" || component == "node-labels";
}

// Returns the value of the line "NAME: VALUE" if it begins with name.
std::string_view value_in(std::string_view line, std::string_view name)
{
    return line.starts_with(name) ? trim(line.substr(name.size()))
                                  : std::string_view{};
}

bool is_word(std::string_view text)
{
    return !text.empty() && text.find_first_of(" \t\"'{}[]") == text.npos;
}

bool is_whole(const ObjectId &id)
{
    return is_word(id.api_version) && is_word(id.kind) && is_word(id.name) &&
           (id.ns.empty() || (is_word(id.ns) && id.ns != no_namespace));
}

std::string group_of(const ObjectId &id)
{
    auto slash = id.api_version.find('/');
    return slash == id.api_version.npos ? "" : id.api_version.substr(0, slash);
}

bool same_object(const ObjectId &a, const ObjectId &b)
{
    return group_of(a) == group_of(b) && a.kind == b.kind && a.ns == b.ns &&
           a.name == b.name;
}

void read_line(std::string_view line, bool &in_metadata, ObjectId &id)
{
    if (!line.starts_with(' '))
        in_metadata = trim(line) == "metadata:";
    if (auto value = value_in(line, "apiVersion: "); !value.empty())
        id.api_version = value;
    if (auto value = value_in(line, "kind: "); !value.empty())
        id.kind = value;
    if (!in_metadata)
        return;
    if (auto value = value_in(line, "  name: "); !value.empty())
        id.name = value;
    if (auto value = value_in(line, "  namespace: "); !value.empty())
        id.ns = value;
}

} // namespace

std::vector<std::string> components_of(std::string_view kustomization)
{
    std::vector<std::string> names;
    for (std::string_view line : all_parts(kustomization, '\n'))
        if (auto name = value_in(line, "- ../components/"); !name.empty())
            names.emplace_back(name);
    return names;
}

Result<std::vector<std::string>>
choose_components(const std::string &words, const std::vector<std::string> &all,
                  const std::vector<std::string> &known,
                  const KubeRelease &release)
{
    std::vector<std::string> chosen;
    if (words == "all")
        chosen = all;
    else if (words != "base")
        for (std::string_view word : all_parts(words, ',')) {
            if (!std::ranges::contains(known, word))
                return fail(Code::rejected, "there is no component \"" +
                                                std::string(word) + "\"");
            chosen.emplace_back(word);
        }
    if (words == "all" && !release.mutates)
        std::erase_if(chosen, mutates);
    for (std::string &name : chosen)
        if (mutates(name) && !release.mutates_v1)
            name += old_variant;
    return chosen;
}

std::string kustomization_of(const std::string &path,
                             const std::vector<std::string> &components)
{
    std::string text = "apiVersion: kustomize.config.k8s.io/v1beta1\n"
                       "kind: Kustomization\n"
                       "resources:\n- " +
                       path + "/base\n";
    if (!components.empty())
        text += "components:\n";
    for (const std::string &name : components)
        text += "- " + path + "/components/" + name + "\n";
    return text;
}

std::vector<ObjectId> object_ids(std::string_view yaml)
{
    std::vector<ObjectId> ids;
    ObjectId id;
    bool in_metadata = false;
    auto end_document = [&] {
        if (is_whole(id))
            ids.push_back(id);
        id = {};
        in_metadata = false;
    };
    for (std::string_view line : all_parts(yaml, '\n'))
        if (line == "---")
            end_document();
        else
            read_line(line, in_metadata, id);
    end_document();
    return ids;
}

std::string text_of(const std::vector<ObjectId> &ids)
{
    std::string text;
    for (const ObjectId &id : ids)
        text += id.api_version + " " + id.kind + " " +
                (id.ns.empty() ? std::string(no_namespace) : id.ns) + " " +
                id.name + "\n";
    return text;
}

std::vector<ObjectId> parse_ids(std::string_view text)
{
    std::vector<ObjectId> ids;
    for (std::string_view line : all_parts(text, '\n')) {
        auto words = all_parts(line, ' ');
        if (words.size() != 4 || words[2].empty())
            continue;
        ObjectId id{std::string(words[0]), std::string(words[1]),
                    std::string(words[2] == no_namespace ? "" : words[2]),
                    std::string(words[3])};
        if (is_whole(id))
            ids.push_back(std::move(id));
    }
    return ids;
}

std::string list_of(const std::vector<ObjectId> &ids)
{
    JsonValue::Array items;
    for (const ObjectId &id : std::views::reverse(ids)) {
        auto metadata = JsonValue::object({{"name", id.name}});
        if (!id.ns.empty())
            metadata.add("namespace", id.ns);
        items.push_back(JsonValue::object({{"apiVersion", id.api_version},
                                           {"kind", id.kind},
                                           {"metadata", std::move(metadata)}}));
    }
    return JsonValue::object({{"apiVersion", "v1"},
                              {"kind", "List"},
                              {"items", JsonValue::array(std::move(items))}})
        .dump();
}

std::vector<ObjectId> dropped(const std::vector<ObjectId> &old,
                              const std::vector<ObjectId> &fresh)
{
    std::vector<ObjectId> gone;
    std::ranges::copy_if(old, std::back_inserter(gone), [&](const ObjectId &a) {
        return std::ranges::none_of(
            fresh, [&](const ObjectId &b) { return same_object(a, b); });
    });
    return gone;
}

} // namespace bridge
