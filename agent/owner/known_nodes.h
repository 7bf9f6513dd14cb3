// SPDX-License-Identifier: GPL-2.0-or-later
// Kubernetes' Nodes as the watch shows them, and which of them are Slurm's, as
// the last sync found it. Values only: it asks and tells nobody. Owner thread
// only.
#pragma once

#include "agent/objects/node_map.h"
#include "agent/objects/objects.h"
#include "common/slurm/node_size.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class KnownNodes {
  public:
    // Kubernetes' Nodes, by name. find() and at() return null for a Node that
    // does not exist.
    const std::map<std::string, NodePtr> &all() const { return nodes_; }
    const Node *find(const std::string &name) const { return at(name).get(); }
    NodePtr at(const std::string &name) const;
    void put(Node node);
    bool erase(const std::string &name);
    // Returns the names of those that are gone.
    std::vector<std::string> replace(std::vector<Node> nodes);

    // The Node behind each Slurm node, and the Slurm nodes that have a slurmd.
    const NodeMap &slurm_nodes() const { return slurm_nodes_; }
    const std::set<std::string> &hybrid() const { return hybrid_; }
    void set_slurm_nodes(NodeMap nodes, std::set<std::string> hybrid);

    // Changes with what decides where Pods may run: which Nodes there are, what
    // they say, and which are Slurm's.
    std::uint64_t version() const { return version_; }

    // The Node behind this Slurm node; null if there is none.
    const Node *behind(const std::string &slurm_node) const;
    // Whether this Node is one of Slurm's, and by which name; its own if it is
    // not.
    bool is_slurms(const std::string &name) const
    {
        return slurm_names_.contains(name);
    }
    std::string slurm_name_of(const std::string &name) const;

    // What Slurm's nodes with this feature have; empty: not known.
    const std::vector<NodeSize> &sizes_of(const std::string &feature) const;
    void set_sizes(NodeSizes sizes) { sizes_ = std::move(sizes); }

  private:
    std::map<std::string, NodePtr> nodes_;
    NodeMap slurm_nodes_;
    std::map<std::string, std::string> slurm_names_; // the inverse
    std::set<std::string> hybrid_;
    NodeSizes sizes_;
    std::uint64_t version_ = 0;
};

} // namespace bridge
