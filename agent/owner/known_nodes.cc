// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/known_nodes.h"

#include "agent/nodes/plan.h"

#include <memory>
#include <utility>

namespace bridge {

NodePtr KnownNodes::at(const std::string &name) const
{
    auto known = nodes_.find(name);
    return known == nodes_.end() ? nullptr : known->second;
}

void KnownNodes::put(Node node)
{
    auto kept = std::make_shared<const Node>(std::move(node));
    NodePtr &known = nodes_[kept->name];
    if (!known || !same_for_slurm(*known, *kept))
        version_++;
    known = std::move(kept);
}

bool KnownNodes::erase(const std::string &name)
{
    version_++;
    return nodes_.erase(name) != 0;
}

std::vector<std::string> KnownNodes::replace(std::vector<Node> nodes)
{
    version_++;
    auto before = std::exchange(nodes_, {});
    for (Node &node : nodes) {
        before.erase(node.name);
        put(std::move(node));
    }
    std::vector<std::string> gone;
    for (const auto &[name, node] : before)
        gone.push_back(name);
    return gone;
}

void KnownNodes::set_slurm_nodes(NodeMap nodes, std::set<std::string> hybrid)
{
    version_++;
    slurm_nodes_ = std::move(nodes);
    hybrid_ = std::move(hybrid);
    slurm_names_.clear();
    for (const auto &[name, node] : slurm_nodes_)
        slurm_names_[node] = name;
}

const Node *KnownNodes::behind(const std::string &slurm_node) const
{
    auto known = slurm_nodes_.find(slurm_node);
    return known == slurm_nodes_.end() ? nullptr : find(known->second);
}

std::string KnownNodes::slurm_name_of(const std::string &name) const
{
    auto known = slurm_names_.find(name);
    return known == slurm_names_.end() ? name : known->second;
}

const std::vector<NodeSize> &
KnownNodes::sizes_of(const std::string &feature) const
{
    static const std::vector<NodeSize> none;
    auto known = sizes_.find(feature);
    return known == sizes_.end() ? none : known->second;
}

} // namespace bridge
