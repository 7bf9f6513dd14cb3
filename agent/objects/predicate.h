// SPDX-License-Identifier: GPL-2.0-or-later
// Which Nodes a Pod may run on, as a value: nodeSelector, required node
// affinity, the node affinity of its volumes, its tolerations, and what its
// claims ask of a Node's devices. Equal predicates have equal canonical text
// and therefore the same Slurm feature, which the agent sets on the Slurm nodes
// that satisfy the predicate. Pure; knows nothing of Slurm except the name of
// that feature, and nothing of devices except the text of what is asked.
#pragma once

#include "common/base/result.h"

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct DeviceAsk; // agent/gres/device_ask.h
struct Node;
struct Taint;

enum class NodeOperator { in, not_in, exists, does_not_exist, gt, lt };

struct NodeRequirement {
    std::string key;    // the key of a label
    bool field = false; // key is metadata.name or starts with allocatable_field
    NodeOperator op = NodeOperator::exists;
    std::vector<std::string> values;

    auto operator<=>(const NodeRequirement &) const = default;
};

using NodeTerm = std::vector<NodeRequirement>; // all must hold; empty: no Node
using NodeSelector = std::vector<NodeTerm>;    // any must hold; empty: no Node

struct Toleration {
    std::string key; // empty: tolerates any taint
    bool any_value = false;
    std::string value;
    std::string effect; // empty: any

    auto operator<=>(const Toleration &) const = default;
};

// What is asked of the devices of a Node. matches() and mismatch() ignore it,
// since a Node does not say which devices it has: DeviceFits does it.
struct DeviceCondition {
    std::string text; // its canonical form, any bytes; empty: nothing is asked
    std::shared_ptr<const DeviceAsk> ask = {};
};

class Predicate {
  public:
    // The predicate of a Pod without any constraint: it tolerates no taint.
    Predicate();

    // Returns Code::rejected, with a message for the Pod's owner, if the text
    // would be longer than max_text (bytes). Returns null for a predicate
    // without constraints.
    static Result<std::shared_ptr<const Predicate>>
    make(std::vector<NodeSelector> all_of, std::vector<Toleration> tolerations,
         DeviceCondition devices = {});

    static constexpr std::size_t max_text = 16384;

    // Readable by users: kubectl's notation of selectors. Two predicates have
    // the same text only if they are equal.
    const std::string &text() const { return text_; }
    // The feature of the Slurm nodes that satisfy the predicate: one word of
    // letters, digits and '-'.
    const std::string &feature() const { return feature_; }

    const std::vector<NodeSelector> &selectors() const { return selectors_; }
    const std::vector<Toleration> &tolerations() const { return tolerations_; }
    const DeviceCondition &devices() const { return devices_; }

    bool operator==(const Predicate &other) const
    {
        return text_ == other.text_;
    }

  private:
    std::vector<NodeSelector> selectors_; // all must match
    std::vector<Toleration> tolerations_;
    DeviceCondition devices_;
    std::string text_;
    std::string feature_;
};

// A null pointer means Predicate().
using PredicatePtr = std::shared_ptr<const Predicate>;
const Predicate &value_of(const PredicatePtr &predicate);

// Returns true if the Node satisfies the predicate now. Some taints are
// ignored: those of a Node that is not ready or is cordoned, since its Slurm
// node is drained for that reason, and our own taint, which keeps other
// schedulers away. Taints for resource pressure on the kubelet count like any
// other taint. What is asked of its devices is ignored.
bool matches(const Predicate &predicate, const Node &node);
// The selector must be normalized: see normalize().
bool matches(const NodeSelector &selector, const Node &node);
void normalize(NodeSelector &selector);

// Returns why the Node does not satisfy the predicate, such as "its taint KEY
// is not tolerated" or "its labels do not match", or an empty text if it does.
std::string mismatch(const Predicate &predicate, const Node &node);

// Returns the beginning of the text, short enough for a message.
std::string short_text(const Predicate &predicate);

} // namespace bridge
