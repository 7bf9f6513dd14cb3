// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/node_view.h"

#include "common/contract/names.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ranges>
#include <string_view>

namespace bridge {

namespace {

std::string text(const char *chars)
{
    return chars ? chars : "";
}

std::vector<std::string> words(std::string_view list,
                               std::string_view separators)
{
    std::vector<std::string> found;
    while (!list.empty()) {
        std::size_t end = list.find_first_of(separators);
        if (end != 0)
            found.emplace_back(list.substr(0, end));
        list.remove_prefix(end == list.npos ? list.size() : end + 1);
    }
    return found;
}

std::string joined(const std::vector<std::string> &names)
{
    constexpr std::size_t shown = 8;
    std::string list;
    for (const std::string &name : names | std::views::take(shown))
        list += (list.empty() ? "" : ", ") + name;
    return names.size() > shown ? list + ", ..." : list;
}

constexpr char pods_only[] =
    "only for Kubernetes Pods: no Slurm job can start there. Choose another ";
constexpr char or_apply[] =
    ", or apply a Pod that names Slurm as its scheduler (kubectl apply).";

using OptionalReason = std::optional<std::string>;

// Refuses only if none of the partitions can start an ordinary job.
OptionalReason partitions_refusal_reason(const std::vector<std::string> &names,
                                         const NodeView &view)
{
    for (const std::string &name : names) {
        auto found = view.partitions.find(name);
        if (found == view.partitions.end() || found->second.has_slurmd ||
            !found->second.has_external)
            return {};
    }
    if (names.empty())
        return {};
    return (names.size() == 1 ? "The nodes of partition "
                              : "The nodes of the partitions ") +
           joined(names) + " are " + pods_only + "partition" + or_apply;
}

OptionalReason nodes_refusal_reason(const PlaceWish &wish, const NodeView &view)
{
    std::vector<std::string> external;
    std::ranges::copy_if(
        wish.nodes, std::back_inserter(external),
        [&](const std::string &node) { return view.external.contains(node); });
    // If the job needs fewer nodes than it lists, slurmctld chooses among them.
    std::size_t needed = std::min<std::size_t>(
        wish.node_count.value_or(UINT32_MAX), wish.nodes.size());
    if (external.empty() || wish.nodes.size() - external.size() >= needed)
        return {};
    return (external.size() == 1 ? "Node " : "The nodes ") + joined(external) +
           (external.size() == 1 ? " is " : " are ") + pods_only + "node" +
           or_apply;
}

} // namespace

NodeView view_of(const partition_info_msg_t &partitions,
                 const node_info_msg_t &nodes, const ExpandHostlist &expand,
                 const std::set<std::string> &refusing_qos)
{
    NodeView view;
    std::map<std::string, SlurmdSize> with_slurmd;
    for (std::uint32_t i = 0; i < nodes.record_count; i++) {
        const node_info_t &node = nodes.node_array[i];
        if (!node.name) // left by a deleted node
            continue;
        if (node.node_state & NODE_STATE_EXTERNAL)
            view.external.insert(node.name);
        else
            with_slurmd[node.name] = size_of(node);
    }
    for (std::uint32_t i = 0; i < partitions.record_count; i++) {
        const partition_info_t &info = partitions.partition_array[i];
        PartitionView &partition = view.partitions[text(info.name)];
        if (info.flags & PART_FLAG_DEFAULT)
            view.default_partition = text(info.name);
        partition.limits = limits_of(info, refusing_qos);
        for (const std::string &name : expand(info.nodes)) {
            auto found = with_slurmd.find(name);
            bool slurmd = found != with_slurmd.end();
            partition.has_slurmd |= slurmd;
            partition.has_external |= view.external.contains(name);
            if (slurmd)
                partition.limits.sizes[found->second]++;
        }
        for (const auto &[size, count] : partition.limits.sizes)
            for (const std::string &feature : words(size.features, ","))
                if (feature.starts_with(names::feature))
                    partition.features.insert(feature);
    }
    return view;
}

PlaceWish modify_wish(const job_desc_msg_t &desc, const ExpandHostlist &expand)
{
    constexpr std::size_t max_list = 16384; // bytes
    PlaceWish wish;
    wish.partitions = text(desc.partition);
    // The time to expand a list grows with the square of its length.
    if (desc.req_nodes && strnlen(desc.req_nodes, max_list + 1) <= max_list)
        wish.nodes = expand(desc.req_nodes);
    if (desc.min_nodes != NO_VAL)
        wish.node_count = desc.min_nodes;
    wish.features = text(desc.features);
    return wish;
}

PlaceWish submit_wish(const job_desc_msg_t &desc, const NodeView &view,
                      const ExpandHostlist &expand)
{
    PlaceWish wish = modify_wish(desc, expand);
    if (wish.partitions.empty())
        wish.partitions = view.default_partition;
    return wish;
}

std::optional<std::string> place_refusal_reason(const PlaceWish &wish,
                                                const NodeView &view)
{
    if (auto reason =
            partitions_refusal_reason(words(wish.partitions, ","), view))
        return reason;
    return nodes_refusal_reason(wish, view);
}

// Only checks constraints that require all of a list of features; other forms
// can be met in too many ways.
std::optional<std::string> features_refusal_reason(const PlaceWish &wish,
                                                   const NodeView &view)
{
    auto partitions = words(wish.partitions, ",");
    if (wish.features.find_first_of("|[](){}*!") != std::string::npos)
        return {};
    for (const std::string &feature : words(wish.features, "&,")) {
        if (!feature.starts_with(names::feature))
            continue;
        bool found = std::ranges::any_of(view.partitions, [&](const auto &one) {
            const auto &[name, partition] = one;
            return partition.features.contains(feature) &&
                   (partitions.empty() ||
                    std::ranges::contains(partitions, name));
        });
        if (!found)
            return "No node on which Slurm jobs can start has the feature " +
                   feature +
                   ": such features are given to nodes for "
                   "Kubernetes Pods.";
    }
    return {};
}

} // namespace bridge
