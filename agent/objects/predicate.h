// SPDX-License-Identifier: GPL-2.0-or-later
// Which Nodes a Pod may run on, as a value: nodeSelector, required node
// affinity, the node affinity of its volumes, and what it tolerates. Equal ones
// have equal canonical text, and so the same Slurm feature, which the agent
// sets on the nodes that satisfy it. Pure; knows nothing of Slurm but that
// name.
#pragma once

#include "common/base/result.h"

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct Node;
struct Taint;

enum class NodeOperator { in, not_in, exists, does_not_exist, gt, lt };

struct NodeRequirement {
    std::string key;    // of a label
    bool field = false; // metadata.name instead, the only one there is
    NodeOperator op = NodeOperator::exists;
    std::vector<std::string> values;

    auto operator<=>(const NodeRequirement &) const = default;
};

using NodeTerm = std::vector<NodeRequirement>; // all of these; none: no Node
using NodeSelector = std::vector<NodeTerm>;    // any of these; none: no Node

struct Toleration {
    std::string key; // empty: of any taint
    bool any_value = false;
    std::string value;
    std::string effect; // empty: any

    auto operator<=>(const Toleration &) const = default;
};

class Predicate {
  public:
    // What a Pod without a wish has: no taint may keep it off.
    Predicate();

    // Code::rejected, with a sentence for the Pod's owner, when the text would
    // be longer than max_text.
    static Result<std::shared_ptr<const Predicate>>
    make(std::vector<NodeSelector> all_of, std::vector<Toleration> tolerations);

    static constexpr std::size_t max_text = 16384;

    // For people too; in kubectl's notation of selectors. Equal predicates have
    // the same, different ones another.
    const std::string &text() const { return text_; }
    // Of the Slurm nodes that satisfy it: one word of letters, digits and '-'.
    const std::string &feature() const { return feature_; }

    const std::vector<NodeSelector> &selectors() const { return selectors_; }
    const std::vector<Toleration> &tolerations() const { return tolerations_; }

    bool operator==(const Predicate &other) const
    {
        return text_ == other.text_;
    }

  private:
    std::vector<NodeSelector> selectors_; // all of them
    std::vector<Toleration> tolerations_;
    std::string text_;
    std::string feature_;
};

// Null stands for Predicate().
using PredicatePtr = std::shared_ptr<const Predicate>;
const Predicate &value_of(const PredicatePtr &predicate);

// Whether the Node satisfies it now. Taints of a Node that is not ready or is
// cordoned are not looked at, since its Slurm node is drained for that; neither
// is ours, which keeps other schedulers off. What the kubelet is short of keeps
// Pods off as any taint does.
bool matches(const Predicate &predicate, const Node &node);
// Of a selector that normalize() has put in order.
bool matches(const NodeSelector &selector, const Node &node);
void normalize(NodeSelector &selector);

// Why the Node does not satisfy it: "its taint KEY is not tolerated", or "its
// labels do not match". Empty: it does.
std::string mismatch(const Predicate &predicate, const Node &node);

// Its beginning, for a sentence.
std::string short_text(const Predicate &predicate);

} // namespace bridge
