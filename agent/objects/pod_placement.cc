// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_placement.h"

namespace bridge {

namespace {

constexpr std::pair<std::string_view, NodeOperator> operators[] = {
    {"In", NodeOperator::in},
    {"NotIn", NodeOperator::not_in},
    {"Exists", NodeOperator::exists},
    {"DoesNotExist", NodeOperator::does_not_exist},
    {"Gt", NodeOperator::gt},
    {"Lt", NodeOperator::lt},
};

std::optional<NodeOperator> operator_of(const std::string &name)
{
    for (const auto &[known, op] : operators)
        if (known == name)
            return op;
    return std::nullopt;
}

bool read_requirements(const Json &list, bool fields, NodeTerm &term)
{
    for (const Json &item : list.items()) {
        NodeRequirement requirement;
        requirement.key = item.text("key");
        requirement.field = fields;
        auto op = operator_of(item.text("operator"));
        if (!op)
            return false;
        requirement.op = *op;
        if (*op != NodeOperator::exists && *op != NodeOperator::does_not_exist)
            for (const Json &value : item.items("values"))
                requirement.values.push_back(value.text());
        term.push_back(std::move(requirement));
    }
    return true;
}

std::optional<NodeTerm> read_term(const Json &json)
{
    NodeTerm term;
    if (!read_requirements(json.at("matchExpressions"), false, term) ||
        !read_requirements(json.at("matchFields"), true, term))
        return std::nullopt;
    return term;
}

// Adds the Pod's nodeSelector as a selector with one term, if it has one.
void add_labels(const Json &spec, std::vector<NodeSelector> &all_of)
{
    NodeTerm term;
    for (auto &[key, value] : spec.texts("nodeSelector"))
        term.push_back({key, false, NodeOperator::in, {value}});
    if (!term.empty())
        all_of.push_back({std::move(term)});
}

std::optional<NodeTerm> heaviest_term(const Json &affinity)
{
    std::int64_t weight = 0;
    std::optional<NodeTerm> heaviest;
    for (const Json &item :
         affinity.items("preferredDuringSchedulingIgnoredDuringExecution")) {
        auto term = read_term(item.at("preference"));
        std::int64_t weighs = item.integer("weight").value_or(0);
        if (!term || term->empty() || weighs <= weight)
            continue;
        weight = weighs;
        heaviest = std::move(term);
    }
    return heaviest;
}

std::vector<Toleration> tolerations_of(const Json &spec,
                                       std::vector<std::string> &unfit_reasons)
{
    std::vector<Toleration> tolerations;
    for (const Json &item : spec.items("tolerations")) {
        std::string op = item.text("operator");
        if (op != "" && op != "Equal" && op != "Exists") {
            unfit_reasons.push_back("the operator " + op.substr(0, 64) +
                                    " of a toleration is not supported by "
                                    "slurm-k8s-bridge yet");
            continue;
        }
        bool any = op == "Exists";
        tolerations.push_back({item.text("key"), any,
                               any ? "" : item.text("value"),
                               item.text("effect")});
    }
    return tolerations;
}

} // namespace

std::optional<NodeSelector> node_selector(const Json &selector)
{
    NodeSelector terms;
    for (const Json &item : selector.items("nodeSelectorTerms")) {
        auto term = read_term(item);
        if (!term)
            return std::nullopt;
        terms.push_back(std::move(*term));
    }
    normalize(terms);
    return terms;
}

PodPlacement pod_placement(const Json &pod)
{
    PodPlacement placement;
    Json spec = pod.at("spec");
    Json affinity = spec.at("affinity/nodeAffinity");
    std::vector<NodeSelector> all_of;
    add_labels(spec, all_of);
    Json required =
        affinity.at("requiredDuringSchedulingIgnoredDuringExecution");
    if (required.is_object()) {
        if (auto selector = node_selector(required))
            all_of.push_back(std::move(*selector));
        else
            placement.unfit_reasons.push_back(
                "an operator of its node affinity is not supported by "
                "slurm-k8s-bridge yet");
    }
    auto tolerations = tolerations_of(spec, placement.unfit_reasons);
    auto made = Predicate::make(all_of, tolerations);
    if (made)
        placement.required = std::move(*made);
    else
        placement.unfit_reasons.push_back(made.error().message);
    if (auto term = heaviest_term(affinity)) {
        all_of.push_back({std::move(*term)});
        auto both = Predicate::make(std::move(all_of), std::move(tolerations));
        if (both) // a preference that is too long is dropped
            placement.preferred = std::move(*both);
    }
    return placement;
}

} // namespace bridge
