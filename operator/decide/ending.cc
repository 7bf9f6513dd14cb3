// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/ending.h"

#include "common/contract/worker_names.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge::slinky {

namespace {

Step finalizers_step(const Holdable &object, const char *what,
                     const std::vector<std::string> &finalizers)
{
    JsonValue::Array items(finalizers.begin(), finalizers.end());
    auto metadata =
        JsonValue::object({{"uid", object.meta.uid},
                           {"resourceVersion", object.meta.version},
                           {"finalizers", JsonValue::array(std::move(items))}});
    return {Step::Verb::patch,
            std::format("{} of {} {}", what, object.kind, object.meta.key.name),
            slinky_path(object.plural, object.meta.key),
            JsonValue::object({{"metadata", std::move(metadata)}}).dump()};
}

} // namespace

Holdable::Holdable(const NodeSet &set)
    : kind("NodeSet"), plural("nodesets"), meta(set.meta),
      finalizers(set.finalizers), finalizer(names::node_set_finalizer)
{
}

Holdable::Holdable(const Controller &controller)
    : kind("Controller"), plural("controllers"), meta(controller.meta),
      finalizers(controller.finalizers), finalizer(names::controller_finalizer)
{
}

bool is_held(const Holdable &object)
{
    return std::ranges::contains(object.finalizers, object.finalizer);
}

Step hold(const Holdable &object)
{
    auto finalizers = object.finalizers;
    finalizers.emplace_back(object.finalizer);
    return finalizers_step(object, "set the finalizer", finalizers);
}

Step let_go(const Holdable &object)
{
    auto finalizers = object.finalizers;
    std::erase(finalizers, object.finalizer);
    return finalizers_step(object, "remove the finalizer", finalizers);
}

bool goes_at_once(const Meta &meta)
{
    auto said = meta.annotations.find(names::delete_annotation);
    return meta.deleting && said != meta.annotations.end() &&
           said->second == "now";
}

} // namespace bridge::slinky
