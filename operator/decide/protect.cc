// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/protect.h"

#include "common/contract/worker_names.h"
#include "operator/decide/metadata.h"
#include "operator/decide/scale.h"

#include <algorithm>
#include <string>
#include <utility>

namespace bridge::slinky {

namespace {

// The names of those whose Pods may be evicted with jobs.
std::vector<std::string>
unprotected_of(const std::vector<const NodeSet *> &sets)
{
    std::vector<std::string> names;
    for (const NodeSet *set : sets)
        if (!set->protect)
            names.push_back(set->meta.key.name);
    return names;
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
    auto selector =
        JsonValue::object({{"matchLabels", texts_json(labels_of(controller))}});
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
    auto spec =
        JsonValue::object({{"maxUnavailable", 0},
                           {"selector", selector_of(controller, unprotected)}});
    auto body =
        JsonValue::object({{"apiVersion", "policy/v1"},
                           {"kind", "PodDisruptionBudget"},
                           {"metadata", workers_metadata(controller, name)},
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
    auto sets = sets_of(known, controller);
    if (sets.empty())
        return {};
    auto unprotected = unprotected_of(sets);
    std::string name = "slurm-workers-pdb-" + controller.meta.key.name;
    auto found = known.budgets.find({controller.meta.key.ns, name});
    if (found != known.budgets.end() &&
        is_as_it_should(found->second, controller, unprotected))
        return {};
    return {budget_step(controller, name, unprotected)};
}

} // namespace bridge::slinky
