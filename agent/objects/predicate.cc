// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/predicate.h"

#include "agent/objects/digest.h"
#include "agent/objects/objects.h"
#include "agent/objects/plugin_offer.h"
#include "agent/objects/predicate_text.h"
#include "common/base/text.h"
#include "common/contract/names.h"

#include <algorithm>
#include <format>
#include <map>
#include <optional>

namespace bridge {

namespace {

constexpr std::size_t hash_letters = 12; // 5 bits each: nobody finds another
                                         // text for somebody's feature
constexpr std::size_t sentence_part = 200;

// Taints of a Node that is not ready or is cordoned: its Slurm node is drained.
constexpr std::string_view drained_for[] = {"node.kubernetes.io/not-ready",
                                            "node.kubernetes.io/unreachable",
                                            "node.kubernetes.io/unschedulable"};

template <class T> void sort_unique(std::vector<T> &items)
{
    std::ranges::sort(items);
    auto rest = std::ranges::unique(items);
    items.erase(rest.begin(), rest.end());
}

// Claims are long, and mean nothing to who reads a list of node selections.
std::string device_word(const DeviceCondition &devices)
{
    std::string word;
    for (char digit : digest_of(devices.text))
        word += std::format("{:02x}", static_cast<unsigned char>(digit));
    return word;
}

std::string feature_for(const std::string &text)
{
    if (text.empty())
        return names::untainted_feature;
    static constexpr char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    std::string digest = digest_of(text);
    std::string feature = names::predicate_prefix;
    for (std::size_t i = 0; i < hash_letters; i++)
        feature += letters[static_cast<unsigned char>(digest[i]) % 32];
    return feature;
}

bool is_plain_in(const NodeTerm &term)
{
    return term.size() == 1 && term.front().op == NodeOperator::in;
}

// Merges "a=1 or a=2" into "a in (1,2)", so that volumes on many nodes have a
// short text.
void merge_values(NodeSelector &selector)
{
    std::map<std::pair<bool, std::string>, NodeRequirement> merged;
    for (const NodeTerm &term : selector)
        if (is_plain_in(term)) {
            const NodeRequirement &one = term.front();
            auto [into, first] = merged.try_emplace({one.field, one.key}, one);
            if (!first)
                std::ranges::copy(one.values,
                                  std::back_inserter(into->second.values));
        }
    std::erase_if(selector, is_plain_in);
    for (auto &[key, requirement] : merged)
        selector.push_back({std::move(requirement)});
}

bool is_left_to_others(std::string_view taint)
{
    return taint == names::managed_node_taint ||
           std::ranges::contains(drained_for, taint);
}

// Returns true if the toleration can make a difference for the agent.
bool counts(const Toleration &toleration)
{
    return toleration.effect != "PreferNoSchedule" &&
           !is_left_to_others(toleration.key);
}

// Returns true if the taint keeps away Pods that do not tolerate it.
bool keeps_off(const Taint &taint)
{
    return taint.effect != "PreferNoSchedule" && !is_left_to_others(taint.key);
}

bool tolerates(const Toleration &t, const Taint &taint)
{
    return (t.effect.empty() || t.effect == taint.effect) &&
           (t.key.empty() || t.key == taint.key) &&
           (t.any_value || t.value == taint.value);
}

const Taint *untolerated(const Predicate &predicate, const Node &node)
{
    for (const Taint &taint : node.taints)
        if (keeps_off(taint) &&
            std::ranges::none_of(
                predicate.tolerations(),
                [&](const Toleration &t) { return tolerates(t, taint); }))
            return &taint;
    return nullptr;
}

// Parses like Go's ParseInt.
std::optional<std::int64_t> go_number(std::string_view text)
{
    if (text.starts_with('+') && !text.starts_with("+-"))
        text.remove_prefix(1);
    return whole_number<std::int64_t>(text);
}

bool compares(const NodeRequirement &r, const std::string &label)
{
    auto is = go_number(label);
    auto than = go_number(r.values.size() == 1 ? r.values.front() : "");
    if (!is || !than)
        return false;
    return r.op == NodeOperator::gt ? *is > *than : *is < *than;
}

// Returns the device plugin's resource that the requirement asks for (see
// where_offered()), or "".
std::string resource_of(const NodeRequirement &r)
{
    return r.field && r.op == NodeOperator::exists &&
                   r.key.starts_with(allocatable_field)
               ? r.key.substr(allocatable_field.size())
               : std::string();
}

bool holds(const NodeRequirement &r, const Node &node)
{
    if (std::string resource = resource_of(r); !resource.empty())
        return offered(node, resource) > 0;
    const std::string *value = nullptr;
    if (r.field) {
        value = r.key == "metadata.name" ? &node.name : nullptr;
    } else if (auto label = node.labels.find(r.key);
               label != node.labels.end()) {
        value = &label->second;
    }
    switch (r.op) {
    case NodeOperator::in:
        return value && std::ranges::binary_search(r.values, *value);
    case NodeOperator::not_in:
        return !value || !std::ranges::binary_search(r.values, *value);
    case NodeOperator::exists:
        return value;
    case NodeOperator::does_not_exist:
        return !value;
    default:
        return value && compares(r, *value);
    }
}

bool selects(const Predicate &predicate, const Node &node)
{
    return std::ranges::all_of(
        predicate.selectors(),
        [&](const NodeSelector &selector) { return matches(selector, node); });
}

// Returns a required resource of a device plugin that the Node does not offer,
// or "".
std::string missing_resource(const Predicate &predicate, const Node &node)
{
    for (const NodeSelector &selector : predicate.selectors())
        for (const NodeTerm &term : selector)
            for (const NodeRequirement &one : term)
                if (!resource_of(one).empty() && !holds(one, node))
                    return resource_of(one);
    return {};
}

} // namespace

void normalize(NodeSelector &selector)
{
    merge_values(selector);
    for (NodeTerm &term : selector) {
        for (NodeRequirement &requirement : term)
            sort_unique(requirement.values);
        sort_unique(term);
    }
    std::erase_if(selector, [](const NodeTerm &term) { return term.empty(); });
    sort_unique(selector);
}

Predicate::Predicate() : feature_(feature_for({})) {}

Result<PredicatePtr> Predicate::make(std::vector<NodeSelector> all_of,
                                     std::vector<Toleration> tolerations,
                                     DeviceCondition devices)
{
    for (NodeSelector &selector : all_of)
        normalize(selector);
    sort_unique(all_of);
    std::erase_if(tolerations, [](const auto &t) { return !counts(t); });
    sort_unique(tolerations);
    std::string text = predicate_text(all_of, tolerations);
    if (!devices.text.empty())
        text +=
            (text.empty() ? "devices " : "; devices ") + device_word(devices);
    if (text.empty())
        return PredicatePtr{};
    if (text.size() > max_text)
        return fail(Code::rejected,
                    std::format("its node selection has {} bytes as "
                                "text, and at most {} are allowed",
                                text.size(), max_text));
    auto made = std::make_shared<Predicate>();
    made->selectors_ = std::move(all_of);
    made->tolerations_ = std::move(tolerations);
    made->devices_ = std::move(devices);
    made->feature_ = feature_for(text);
    made->text_ = std::move(text);
    return PredicatePtr(std::move(made));
}

const Predicate &value_of(const PredicatePtr &predicate)
{
    static const Predicate plain;
    return predicate ? *predicate : plain;
}

bool matches(const NodeSelector &selector, const Node &node)
{
    return std::ranges::any_of(selector, [&](const NodeTerm &term) {
        return !term.empty() &&
               std::ranges::all_of(term, [&](const NodeRequirement &r) {
                   return holds(r, node);
               });
    });
}

bool matches(const Predicate &predicate, const Node &node)
{
    return !untolerated(predicate, node) && selects(predicate, node);
}

std::string mismatch(const Predicate &predicate, const Node &node)
{
    if (!selects(predicate, node)) {
        std::string missing = missing_resource(predicate, node);
        return missing.empty()
                   ? "its labels do not match"
                   : "no device plugin offers " + missing + " there";
    }
    if (const Taint *taint = untolerated(predicate, node))
        return "its taint " + taint->key + " is not tolerated";
    return {};
}

std::string short_text(const Predicate &predicate)
{
    const std::string &text = predicate.text();
    if (text.size() <= sentence_part)
        return text;
    return text.substr(0, sentence_part) + "…";
}

} // namespace bridge
