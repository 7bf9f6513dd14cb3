// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/owner_reference.h"

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

} // namespace bridge
