// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/hybrid_size.h"
#include "agent/nodes/plan.h"
#include "agent/nodes/words.h"
#include "cli/check/check_kube.h"
#include "common/base/text.h"
#include "common/contract/kubelet_features.h"
#include "common/contract/names.h"

#include <algorithm>
#include <format>
#include <map>
#include <memory>

namespace bridge {

namespace {

std::string about(const std::string &node)
{
    return "Node " + node;
}

// Returns what the agent would do if it started now, without regard to drains.
NodePlan plan(const KubeFacts &kube, const SlurmFacts &slurm)
{
    NodePlanInput input;
    for (const Node &node : kube.nodes)
        input.nodes.push_back(std::make_shared<const Node>(node));
    input.foreign.emplace(); // only the agent knows what others use
    input.wishes.keep_others = true;
    return plan_nodes(input, slurm.nodes);
}

Findings check_sizes(const SlurmNode &slurm, const Node &node)
{
    auto cpus = whole_cpus_down(node.allocatable.cpu);
    auto memory = mebibytes_down(node.allocatable.memory);
    if (slurm.external || // made by the agent: the plan reports it
        (slurm.usable_cpus <= cpus && slurm.usable_memory <= memory))
        return {};
    std::string says = std::format(
        "Slurm gives away {} CPUs and {} MB there, the kubelet only {} and {}: "
        "it will refuse Pods that Slurm has placed",
        slurm.usable_cpus, slurm.usable_memory.value, cpus, memory.value);
    auto spare_cpus = slurm.cpus > cpus ? slurm.cpus - cpus : 0;
    auto spare_memory = slurm.memory.value > memory.value
                            ? slurm.memory.value - memory.value
                            : 0;
    return {{Severity::error, about(node.name), says,
             std::format("NodeName={} … CoreSpecCount={} MemSpecLimit={}",
                         slurm.name, spare_cpus, spare_memory)}};
}

Findings check_known(const KubeFacts &kube, const SlurmFacts &slurm,
                     const NodePlan &plan)
{
    std::map<std::string, const Node *> nodes;
    for (const Node &node : kube.nodes)
        nodes[node.name] = &node;
    Findings found;
    for (const SlurmNode &known : slurm.nodes) {
        auto name = plan.nodes.find(known.name);
        if (name != plan.nodes.end()) {
            if (auto node = nodes.find(name->second); node != nodes.end())
                std::ranges::move(check_sizes(known, *node->second),
                                  std::back_inserter(found));
        } else if (known.external &&
                   ("," + known.features + ",").contains(",k8s,")) {
            found.push_back({Severity::warning, "node " + known.name,
                             "Slurm has it for a Node that is not there, or "
                             "is not opted in",
                             std::format("kubectl label node {} {}=true, or "
                                         "scontrol delete NodeName={}",
                                         known.name, names::external_node_label,
                                         known.name)});
        }
    }
    return found;
}

Findings check_devices(const KubeFacts &kube, const SlurmFacts &slurm)
{
    if (std::ranges::contains(slurm.gres_types, "gpu"))
        return {};
    for (const Node &node : kube.nodes)
        for (const auto &[name, amount] : node.allocatable.others)
            if (is_opted_in(node) && name.ends_with("/gpu") && amount > 0)
                return {{Severity::note, "slurm.conf",
                         about(node.name) + " has " + name +
                             ", and GresTypes has no gpu: Slurm drops such "
                             "devices silently",
                         "GresTypes=gpu"}};
    return {};
}

Findings check_features(const SlurmFacts &slurm, const NodePlan &plan)
{
    auto plugins = slurm.node_features_plugins;
    if (plan.hybrid.empty() || std::ranges::contains(plugins, "k8s"))
        return {};
    std::string line = "NodeFeaturesPlugins=";
    for (const std::string &plugin : plugins)
        line += plugin + ",";
    Findings found{{Severity::warning, "slurm.conf",
                    "node_features/k8s is not loaded: the nodes of both slurmd "
                    "and kubelet, such as " +
                        *plan.hybrid.begin() +
                        ", have no feature k8s.kubelet that jobs can ask for, "
                        "and those of labels only while the agent runs",
                    line + "k8s"}};
    // Only users with full access to kubelets may read this setting.
    found.push_back(
        {Severity::note, "node " + *plan.hybrid.begin(),
         "it is not known whether its kubelet gives containers CPUs of their "
         "own, which slurmd gives to jobs, too: check the configuration of the "
         "kubelet on all nodes that have both",
         "cpuManagerPolicy: none"});
    return found;
}

// Relies on what slurmd reports: see node_features/k8s.
Findings check_cpu_managers(const SlurmFacts &slurm, const NodePlan &plan)
{
    Findings found;
    for (const SlurmNode &node : slurm.nodes)
        if (plan.hybrid.contains(node.name) &&
            ("," + node.features + ",")
                .contains(std::format(",{},", static_cpus_feature)))
            found.push_back(
                {Severity::warning, "node " + node.name,
                 "its kubelet gives containers CPUs of their own, and slurmd "
                 "gives the same CPUs to jobs: some are used twice while "
                 "others "
                 "are idle",
                 "cpuManagerPolicy: none in the kubelet's configuration, "
                 "without "
                 "its file cpu_manager_state; then restart kubelet and "
                 "slurmd"});
    return found;
}

} // namespace

Findings check_nodes(const KubeFacts &kube, const SlurmFacts &slurm)
{
    Findings found;
    if (!kube.nodes_listed)
        return found;
    if (std::ranges::none_of(kube.nodes, is_opted_in))
        found.push_back({Severity::warning, "Nodes",
                         "no Node is opted in: Slurm has no nodes for Pods",
                         std::string("kubectl label node NAME ") +
                             names::external_node_label + "=true"});
    NodePlan wish = plan(kube, slurm);
    for (const std::string &warning : wish.warnings)
        if (!warning.contains(too_large_node_text)) // see check_sizes()
            found.push_back({Severity::warning, "Nodes", warning, ""});
    std::ranges::move(check_known(kube, slurm, wish),
                      std::back_inserter(found));
    std::ranges::move(check_devices(kube, slurm), std::back_inserter(found));
    std::ranges::move(check_features(slurm, wish), std::back_inserter(found));
    std::ranges::move(check_cpu_managers(slurm, wish),
                      std::back_inserter(found));
    return found;
}

std::size_t count_new_nodes(const KubeFacts &kube, const SlurmFacts &slurm)
{
    NodePlan wish = plan(kube, slurm);
    return static_cast<std::size_t>(
        std::ranges::count_if(wish.steps, [](const NodeStep &step) {
            return std::holds_alternative<CreateNode>(step);
        }));
}

std::set<std::string> partitions_of_nodes(const KubeFacts &kube)
{
    std::set<std::string> found;
    for (const Node &node : kube.nodes) {
        if (!is_opted_in(node))
            continue;
        std::string list = node.annotation(names::external_node_partitions);
        for (std::string_view part : all_parts(list, ',')) {
            std::string word(part);
            std::erase(word, ' ');
            if (!word.empty())
                found.insert(word);
        }
    }
    return found;
}

} // namespace bridge
