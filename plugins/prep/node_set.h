// SPDX-License-Identifier: GPL-2.0-or-later
// A set of node names that never changes. Copies share the names, so copying is
// cheap under the hooks' mutex, whatever the number of nodes.
#pragma once

#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace bridge {

class NodeSet {
  public:
    using Names = std::set<std::string>;

    NodeSet() : NodeSet(Names{}) {}
    NodeSet(Names names)
        : names_(std::make_shared<const Names>(std::move(names)))
    {
    }
    NodeSet(std::initializer_list<std::string> names) : NodeSet(Names(names)) {}

    bool contains(const std::string &name) const
    {
        return names_->contains(name);
    }
    bool empty() const { return names_->empty(); }
    auto begin() const { return names_->begin(); }
    auto end() const { return names_->end(); }

    bool operator==(const NodeSet &other) const
    {
        return names_ == other.names_ || *names_ == *other.names_;
    }

  private:
    std::shared_ptr<const Names> names_;
};

} // namespace bridge
