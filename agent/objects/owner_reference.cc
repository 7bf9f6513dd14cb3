// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/owner_reference.h"

#include "common/contract/worker_names.h"

#include <algorithm>

namespace bridge {

JsonValue owner_reference(const std::string &pod, const std::string &uid)
{
    return JsonValue::object(
        {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod}, {"uid", uid}});
}

JsonValue metadata_owned_by(const Pod &pod)
{
    return JsonValue::object(
        {{"name", pod.key.name},
         {"namespace", pod.key.ns},
         {"ownerReferences",
          JsonValue::array({owner_reference(pod.key.name, pod.uid)})}});
}

bool has_node_set(const Json &metadata)
{
    return std::ranges::any_of(
        metadata.items("ownerReferences"), [](const Json &owner) {
            return owner.flag("controller") &&
                   owner.text("kind") == names::node_set_kind &&
                   owner.text("apiVersion")
                       .starts_with(std::string(names::slinky_group) + "/");
        });
}

} // namespace bridge
