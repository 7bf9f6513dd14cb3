// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/batch_template.h"

#include "common/base/json.h"
#include "common/base/json_text.h"
#include "common/base/read_file.h"
#include "common/contract/batch_names.h"
#include "common/contract/template_check.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char default_pod[] = R"({
  "apiVersion": "v1", "kind": "Pod",
  "spec": {
    "enableServiceLinks": false,
    "terminationGracePeriodSeconds": 30,
    "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [{"name": "job"}]
  }
})";

constexpr std::size_t max_size = 65536; // bytes

// Returns the object without this member.
std::string without(const Json &object, std::string_view name)
{
    JsonMembers kept;
    for (const auto &[key, value] : object.members())
        if (key != name)
            kept.emplace_back(key, value.dump());
    return json_object(kept);
}

std::string without_choosable(const Json &pod)
{
    std::string text = pod.dump();
    Json annotations = pod.at("metadata/annotations");
    if (!annotations.member(names::choosable_volumes).present())
        return text;
    std::string metadata =
        json_with(pod.at("metadata").dump(), "annotations",
                  without(annotations, names::choosable_volumes));
    return json_with(text, "metadata", metadata);
}

// Returns the array without the objects whose name is in left_out.
std::string filtered(const Json &list, const std::vector<std::string> &left_out)
{
    std::vector<std::string> kept;
    for (const Json &item : list.items())
        if (!std::ranges::contains(left_out, item.text("name")))
            kept.push_back(item.dump());
    return json_array(kept);
}

} // namespace

const BatchTemplate &default_batch_template()
{
    static const BatchTemplate base{default_pod};
    return base;
}

Result<BatchTemplate> parse_batch_template(std::string_view text)
{
    if (text.size() > max_size)
        return fail(Code::rejected,
                    "has more than " + std::to_string(max_size) + " bytes");
    auto json = Json::parse(text);
    if (!json)
        return fail(Code::rejected,
                    "must be a Pod in JSON (kubectl create --dry-run=client -o "
                    "json -f FILE makes that of YAML): " +
                        json.error().message);
    TemplateFindings found = check_template(*json);
    if (!found.reason.empty())
        return fail(Code::rejected, found.reason);
    BatchTemplate base{without_choosable(*json), std::move(found.choosable)};
    auto whole = pod_with_volumes(base, {});
    if (!whole || !Json::parse(*whole)) // such as names with escapes
        return fail(Code::rejected,
                    "has member names that cannot be used, such as "
                    "names with escapes");
    return base;
}

Result<BatchTemplate> load_batch_template(const std::string &path)
{
    auto text = read_file(path, any_size);
    if (!text || text->empty())
        return fail(Code::not_found, "cannot read " + path);
    auto base = parse_batch_template(*text);
    if (!base)
        return fail(base.error(), path);
    return base;
}

Result<std::string> pod_with_volumes(const BatchTemplate &base,
                                     const std::vector<std::string> &chosen)
{
    for (const std::string &name : chosen)
        if (!std::ranges::contains(base.choosable, name))
            return fail(Code::rejected,
                        "jobs cannot choose the volume \"" +
                            name.substr(0, 63) +
                            "\": SbatchTemplate in k8s.conf does not list it "
                            "in slurmk8s/choosable-volumes");
    std::vector<std::string> left_out;
    for (const std::string &name : base.choosable)
        if (!std::ranges::contains(chosen, name))
            left_out.push_back(name);
    if (left_out.empty())
        return base.pod;
    auto json = Json::parse(base.pod);
    if (!json)
        return std::unexpected(json.error());
    Json container = json->at("spec/containers/0");
    std::string spec = json_with(json->at("spec").dump(), "volumes",
                                 filtered(json->at("spec/volumes"), left_out));
    spec = json_with(spec, "containers",
                     json_array({json_with(
                         container.dump(), "volumeMounts",
                         filtered(container.at("volumeMounts"), left_out))}));
    return json_with(base.pod, "spec", spec);
}

} // namespace bridge
