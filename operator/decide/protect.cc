// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/protect.h"

#include "common/contract/worker_names.h"

#include <algorithm>
#include <string>
#include <utility>

namespace bridge::slinky {

namespace {

// The NodeSets of this Controller; unprotected: those of them whose Pods may be
// evicted with jobs.
std::vector<std::string> sets_of(const Known &known,
                                 const Controller &controller, bool unprotected)
{
    std::vector<std::string> found;
    for (const auto &[key, set] : known.node_sets)
        if (key.ns == controller.meta.key.ns &&
            set.controller == controller.meta.key.name &&
            (!unprotected || !set.protect))
            found.push_back(key.name);
    return found;
}

TextMap labels_of(const Controller &controller)
{
    return {{names::cluster_label, controller.meta.key.name},
            {names::protect_label, "true"}};
}

bool is_as_it_should(const Budget &budget, const Controller &controller,
                     const std::vector<std::string> &unprotected)
{
    return budget.most_unavailable == 0 &&
           budget.labels == labels_of(controller) &&
           budget.excepted == unprotected &&
           std::ranges::contains(budget.owners, controller.meta.uid);
}

JsonValue selector_of(const Controller &controller,
                      const std::vector<std::string> &unprotected)
{
    auto labels = JsonValue::object({});
    for (const auto &[name, value] : labels_of(controller))
        labels.add(name, value);
    auto selector = JsonValue::object({{"matchLabels", std::move(labels)}});
    if (unprotected.empty())
        return selector;
    JsonValue::Array names(unprotected.begin(), unprotected.end());
    auto except =
        JsonValue::object({{"key", names::instance_label},
                           {"operator", "NotIn"},
                           {"values", JsonValue::array(std::move(names))}});
    selector.add("matchExpressions", JsonValue::array({std::move(except)}));
    return selector;
}

Step budget_step(const Controller &controller, const std::string &name,
                 const std::vector<std::string> &unprotected)
{
    const std::string &ns = controller.meta.key.ns;
    auto owner = JsonValue::object({{"apiVersion", names::slinky_version},
                                    {"kind", "Controller"},
                                    {"name", controller.meta.key.name},
                                    {"uid", controller.meta.uid}});
    auto labels =
        JsonValue::object({{names::app_label, "slurmd"},
                           {names::component_label, "worker"},
                           {names::cluster_label, controller.meta.key.name}});
    auto metadata = JsonValue::object(
        {{"name", name},
         {"namespace", ns},
         {"labels", std::move(labels)},
         {"ownerReferences", JsonValue::array({std::move(owner)})}});
    auto spec =
        JsonValue::object({{"maxUnavailable", 0},
                           {"selector", selector_of(controller, unprotected)}});
    auto body = JsonValue::object({{"apiVersion", "policy/v1"},
                                   {"kind", "PodDisruptionBudget"},
                                   {"metadata", std::move(metadata)},
                                   {"spec", std::move(spec)}});
    return {Step::Verb::apply, "apply PodDisruptionBudget " + name,
            applied("/apis/policy/v1/namespaces/" + ns +
                    "/poddisruptionbudgets/" + name),
            body.dump()};
}

} // namespace

std::vector<Step> protect_workers(const Known &known,
                                  const Controller &controller)
{
    if (sets_of(known, controller, false).empty())
        return {};
    auto unprotected = sets_of(known, controller, true);
    std::string name = "slurm-workers-pdb-" + controller.meta.key.name;
    auto found = known.budgets.find({controller.meta.key.ns, name});
    if (found != known.budgets.end() &&
        is_as_it_should(found->second, controller, unprotected))
        return {};
    return {budget_step(controller, name, unprotected)};
}

} // namespace bridge::slinky
