// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/metadata.h"

#include "common/contract/worker_names.h"

#include <utility>

namespace bridge::slinky {

JsonValue texts_json(const TextMap &texts)
{
    JsonValue made = JsonValue::object({});
    for (const auto &[name, value] : texts)
        made.add(name, value);
    return made;
}

JsonValue owned_by(const char *kind, const Meta &owner)
{
    return JsonValue::array(
        {JsonValue::object({{"apiVersion", names::slinky_version},
                            {"kind", kind},
                            {"name", owner.key.name},
                            {"uid", owner.uid},
                            {"controller", true},
                            {"blockOwnerDeletion", false}})});
}

JsonValue owned_by(const NodeSet &set)
{
    return owned_by("NodeSet", set.meta);
}

JsonValue workers_metadata(const Controller &controller,
                           const std::string &name)
{
    const Key &key = controller.meta.key;
    auto owner = JsonValue::object({{"apiVersion", names::slinky_version},
                                    {"kind", "Controller"},
                                    {"name", key.name},
                                    {"uid", controller.meta.uid}});
    return JsonValue::object(
        {{"name", name},
         {"namespace", key.ns},
         {"labels", texts_json({{names::app_label, "slurmd"},
                                {names::component_label, "worker"},
                                {names::cluster_label, key.name}})},
         {"ownerReferences", JsonValue::array({std::move(owner)})}});
}

} // namespace bridge::slinky
