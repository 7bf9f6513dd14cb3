// SPDX-License-Identifier: GPL-2.0-or-later
// The changes that the agent writes to a Node. Values only.
#pragma once

#include "agent/objects/objects.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// A change of one Node, valid for the resourceVersion that was read.
struct NodePatch {
    std::string node;
    std::string uid;
    std::string resource_version;
    std::optional<bool> unschedulable;
    std::optional<std::vector<Taint>> taints; // replaces the whole list
    // An annotation without a value is removed.
    std::map<std::string, std::optional<std::string>> annotations;

    bool empty() const
    {
        return !unschedulable && !taints && annotations.empty();
    }
};

} // namespace bridge
