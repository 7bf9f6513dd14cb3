// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/node_plan.h"

#include <algorithm>
#include <map>

namespace bridge {

namespace {

bool wanted(const Node &node)
{
    std::string value = node.label(names::external_node_label);
    return value == "true" || value == "True" || value == "1";
}

std::string slurm_name(const Node &node)
{
    std::string name = node.label(names::slurm_nodename_label);
    return name.empty() ? node.name : name;
}

// The names go into a line that slurmctld parses: nothing may end a word.
bool plain_word(std::string_view word)
{
    return !word.empty() && word.size() <= 253 &&
           std::ranges::all_of(word, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                      c == '.';
           });
}

std::vector<std::string> sorted_words(const std::string &list)
{
    std::vector<std::string> words;
    for (std::size_t start = 0; start < list.size();) {
        std::size_t comma = std::min(list.find(',', start), list.size());
        words.push_back(list.substr(start, comma - start));
        start = comma + 1;
    }
    std::ranges::sort(words);
    return words;
}

// The features of a Node: ours, and one for each partition it names.
std::string features_of(const Node &node, std::vector<std::string> &complaints)
{
    std::string features = names::feature;
    std::string list = node.annotation(names::external_node_partitions);
    for (std::size_t start = 0; start < list.size();) {
        std::size_t comma = std::min(list.find(',', start), list.size());
        std::string word = list.substr(start, comma - start);
        start = comma + 1;
        std::erase(word, ' ');
        if (word.empty())
            continue;
        if (plain_word(word) &&
            !std::ranges::contains(sorted_words(features), word))
            features += "," + word;
        else if (!plain_word(word))
            complaints.push_back("Node " + node.name + ": annotation " +
                                 names::external_node_partitions +
                                 " has a name that is none");
    }
    return features;
}

void add_feature(std::string &features, const std::string &word)
{
    if (!std::ranges::contains(sorted_words(features), word))
        features += "," + word;
}

// Those of the predicates that the Node satisfies. Whose the others are that
// Slurm's node has may not be known yet: jobs may wait for them.
void add_predicates(const Node &node, const SlurmNode *known,
                    const FeatureWishes &wishes, NodeDescription &wish,
                    NodePlan &plan)
{
    for (const PredicatePtr &predicate : wishes.predicates) {
        const Predicate &value = value_of(predicate);
        if (!matches(value, node))
            continue;
        wish.features += "," + value.feature();
        plan.placed[wish.name].push_back(value.feature());
    }
    if (!wishes.keep_others || !known)
        return;
    for (const std::string &word : sorted_words(known->features))
        if (word.starts_with(names::predicate_prefix) &&
            !word.starts_with(names::pin_prefix) &&
            word != names::untainted_feature)
            add_feature(wish.features, word);
}

std::string pin_of(const std::string &slurm_node)
{
    return names::pin_prefix + slurm_node;
}

bool has_pin(const SlurmNode &node)
{
    return std::ranges::contains(sorted_words(node.features),
                                 pin_of(node.name));
}

bool to_be_pinned(const SlurmNode *known, const std::string &name,
                  const FeatureWishes &wishes)
{
    return wishes.pins.contains(name) ||
           (wishes.keep_others && known && has_pin(*known));
}

// An external node with our feature is one that we made.
bool ours(const SlurmNode &node)
{
    return node.external &&
           std::ranges::contains(sorted_words(node.features), names::feature);
}

std::string why_drained(const Node &node)
{
    if (node.deleting)
        return "the Node is being deleted";
    if (node.unschedulable)
        return "the Node is cordoned";
    if (!node.ready)
        return "the Node is not ready";
    return {};
}

// What the gate drained stays so until no Pod of an ended job is left there.
bool gate_keeps(const SlurmNode &known, const DirtyNodes &dirty)
{
    return known.reason.starts_with(names::gate_drain_reason) &&
           (!dirty || dirty->contains(known.name));
}

void plan_state(const Node &node, const SlurmNode &known,
                const DirtyNodes &dirty, NodePlan &plan)
{
    std::string why = why_drained(node);
    bool gate = gate_keeps(known, dirty);
    bool our_mark = known.reason.starts_with(drain_mark) && !gate;
    plan.look_again |= gate && !dirty;
    if (!why.empty() && !known.drained)
        plan.steps.push_back(DrainNode{known.name, drain_mark + why});
    else if (why.empty() && known.drained && our_mark)
        plan.steps.push_back(ResumeNode{known.name});
}

const std::string &active_features(const SlurmNode &known)
{
    return known.active_features ? *known.active_features : known.features;
}

std::string without_ours(const std::string &features)
{
    std::string rest;
    for (const std::string &word : sorted_words(features))
        if (!word.empty() && !word.starts_with(names::feature))
            rest += (rest.empty() ? "" : ",") + word;
    return rest;
}

// Those that slurm.conf or an administrator gave it stay.
std::string hybrid_features(const std::string &known, const std::string &wish)
{
    std::string features = without_ours(known);
    std::vector<std::string> have = sorted_words(features);
    for (const std::string &word : sorted_words(wish))
        if (!std::ranges::contains(have, word))
            features += (features.empty() ? "" : ",") + word;
    return features;
}

void check_size(const Node &node, const SlurmNode &known,
                const NodeDescription &wish, NodePlan &plan)
{
    if (!known.external) {
        if (known.usable_cpus > wish.cpus ||
            known.usable_memory.value > wish.memory.value)
            plan.complaints.push_back(
                "Node " + node.name + ": Slurm gives away more of " +
                known.name + " than its kubelet has: set CoreSpecCount and "
                             "MemSpecLimit");
    } else if (known.cpus != wish.cpus || known.memory != wish.memory) {
        plan.complaints.push_back(
            "Node " + node.name +
            " changed its size: delete Slurm's node to have it made anew");
    }
}

void plan_features(const SlurmNode &known, SetFeatures set, NodePlan &plan)
{
    if (sorted_words(known.features) != sorted_words(set.features) ||
        sorted_words(active_features(known)) != sorted_words(set.active))
        plan.steps.push_back(std::move(set));
}

void plan_known(const Node &node, const SlurmNode &known,
                const NodeDescription &wish, const DirtyNodes &dirty,
                NodePlan &plan)
{
    plan.nodes[known.name] = node.name;
    if (!known.external)
        plan.hybrid.insert(known.name);
    check_size(node, known, wish, plan);
    SetFeatures set{known.name, wish.features, wish.features};
    if (!known.external) {
        set.features = hybrid_features(known.features, wish.features);
        set.active = hybrid_features(active_features(known), wish.features);
    }
    plan_features(known, std::move(set), plan);
    plan_state(node, known, dirty, plan);
}

// Nobody asks for this one any more.
void plan_unclaimed(const SlurmNode &known, NodePlan &plan)
{
    if (ours(known) && !known.drained)
        plan.steps.push_back(DrainNode{
            known.name, std::string(drain_mark) +
                            "no Node of Kubernetes asks for this one"});
    // A node with a slurmd goes on without us.
    if (!known.external &&
        std::ranges::contains(sorted_words(known.features), names::feature))
        plan_features(known,
                      {known.name, without_ours(known.features),
                       without_ours(active_features(known))},
                      plan);
}

void plan_new(const Node &node, NodeDescription wish, NodePlan &plan)
{
    if (wish.cpus == 0 || wish.memory.value == 0)
        return; // its kubelet has not said yet what it has
    std::string name = wish.name;
    plan.nodes[name] = node.name;
    plan.steps.push_back(CreateNode{std::move(wish)});
    if (std::string why = why_drained(node); !why.empty())
        plan.steps.push_back(DrainNode{name, drain_mark + why});
}

} // namespace

NodePlan plan_nodes(const std::vector<Node> &nodes,
                    const std::vector<SlurmNode> &known, const FeatureWishes &wishes,
                    const std::string &address, std::uint16_t port,
                    const DirtyNodes &dirty)
{
    NodePlan plan;
    std::map<std::string, const SlurmNode *> by_name;
    for (const SlurmNode &node : known)
        by_name[node.name] = &node;
    std::map<std::string, std::string> claimed;

    for (const Node &node : nodes) {
        if (!wanted(node))
            continue;
        std::string name = slurm_name(node);
        if (!plain_word(name) || !node.objection.empty()) {
            claimed.emplace(name, node.name); // left as it is in Slurm
            plan.complaints.push_back("Node " + node.name + " is left out: " +
                                      (node.objection.empty()
                                           ? "its name cannot be one in Slurm"
                                           : node.objection));
            continue;
        }
        if (auto [other, first] = claimed.emplace(name, node.name); !first) {
            plan.complaints.push_back("Nodes " + other->second + " and " +
                                      node.name +
                                      " both claim Slurm's node " + name);
            continue;
        }
        NodeDescription wish{name,
                             address,
                             port,
                             whole_cpus_down(node.allocatable.cpu),
                             mebibytes_down(node.allocatable.memory),
                             features_of(node, plan.complaints),
                             {}};
        auto found = by_name.find(name);
        const SlurmNode *slurm_node =
            found == by_name.end() ? nullptr : found->second;
        add_predicates(node, slurm_node, wishes, wish, plan);
        if (to_be_pinned(slurm_node, name, wishes)) {
            wish.features += "," + pin_of(name);
            plan.pinned.insert(name);
        }
        if (slurm_node)
            plan_known(node, *slurm_node, wish, dirty, plan);
        else
            plan_new(node, std::move(wish), plan);
    }
    for (const SlurmNode &node : known)
        if (!claimed.contains(node.name))
            plan_unclaimed(node, plan);
    return plan;
}

bool same_for_slurm(const Node &a, const Node &b)
{
    return a.labels == b.labels && a.annotations == b.annotations &&
           a.unschedulable == b.unschedulable && a.ready == b.ready &&
           a.deleting == b.deleting && a.allocatable == b.allocatable &&
           a.taints == b.taints &&
           a.objection == b.objection;
}

} // namespace bridge
