// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent writes onto a Node.
#pragma once

#include "agent/objects/objects.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// A change of one Node, as it was when it was read.
struct NodePatch {
    std::string node;
    std::string uid;
    std::string resource_version;
    std::optional<bool> unschedulable;
    std::optional<std::vector<Taint>> taints; // the whole list
    std::map<std::string, std::optional<std::string>> annotations; // none: goes

    bool empty() const
    {
        return !unschedulable && !taints && annotations.empty();
    }
};

} // namespace bridge
