// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/node_fit.h"

#include "common/base/text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace bridge::slinky {

namespace {

// value: of the label, or nothing. What is not well formed matches nothing: the
// API server refuses the Pod.
bool matches(const Json &requirement, const std::optional<std::string> &value)
{
    std::string how = requirement.text("operator");
    std::vector<std::string> values;
    for (const Json &one : requirement.items("values"))
        values.push_back(one.text());
    bool is_one = value && std::ranges::contains(values, *value);
    if (how == "In")
        return is_one;
    if (how == "NotIn")
        return !is_one;
    if (how == "Exists")
        return value.has_value();
    if (how == "DoesNotExist")
        return !value;
    auto has = whole_number<std::int64_t>(value.value_or(""));
    auto limit = values.size() == 1 ? whole_number<std::int64_t>(values[0])
                                    : std::nullopt;
    if (!has || !limit)
        return false;
    return (how == "Gt" && *has > *limit) || (how == "Lt" && *has < *limit);
}

std::optional<std::string> label_of(const KubeNode &node,
                                    const std::string &key)
{
    auto found = node.meta.labels.find(key);
    if (found == node.meta.labels.end())
        return std::nullopt;
    return found->second;
}

bool matches_term(const Json &term, const KubeNode &node)
{
    auto expressions = term.items("matchExpressions");
    auto fields = term.items("matchFields");
    if (expressions.empty() && fields.empty())
        return false;
    return std::ranges::all_of(expressions,
                               [&](const Json &one) {
                                   return matches(
                                       one, label_of(node, one.text("key")));
                               }) &&
           std::ranges::all_of(fields, [&](const Json &one) {
               return one.text("key") == "metadata.name" &&
                      matches(one, node.meta.key.name);
           });
}

bool is_selected(const NodeSet &set, const KubeNode &node)
{
    Json spec = set.spec.at("template/spec");
    for (const auto &[key, value] : spec.texts("nodeSelector"))
        if (label_of(node, key) != value)
            return false;
    Json required = spec.at("affinity/nodeAffinity/"
                            "requiredDuringSchedulingIgnoredDuringExecution");
    return !required.is_object() ||
           std::ranges::any_of(
               required.items("nodeSelectorTerms"),
               [&](const Json &term) { return matches_term(term, node); });
}

bool tolerates(const Json &toleration, const Taint &taint)
{
    std::string key = toleration.text("key");
    std::string effect = toleration.text("effect");
    if (!effect.empty() && effect != taint.effect)
        return false;
    if (toleration.text("operator") == "Exists")
        return key.empty() || key == taint.key;
    return key == taint.key && toleration.text("value") == taint.value;
}

bool is_tolerated(const NodeSet &set, const Taint &taint)
{
    bool as_daemon =
        set.daemon_set &&
        std::ranges::any_of(daemon_tolerations, [&](const Toleration &one) {
            return taint.key == one.key && taint.effect == one.effect;
        });
    return as_daemon ||
           std::ranges::any_of(
               set.spec.items("template/spec/tolerations"),
               [&](const Json &one) { return tolerates(one, taint); });
}

} // namespace

NodeFit fit_of(const NodeSet &set, const KubeNode &node)
{
    bool selected = is_selected(set, node);
    NodeFit fit{selected, selected};
    for (const Taint &taint : node.taints) {
        if (taint.effect == "PreferNoSchedule" || is_tolerated(set, taint))
            continue;
        fit.comes = false;
        if (taint.effect == "NoExecute")
            fit.stays = false;
    }
    return fit;
}

} // namespace bridge::slinky
