// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/plugin_offer.h"

#include "agent/objects/objects.h"

#include <algorithm>

namespace bridge {

std::int64_t offered(const Node &node, const std::string &resource)
{
    auto found = node.allocatable.others.find(resource);
    return found == node.allocatable.others.end()
               ? 0
               : std::max<std::int64_t>(0, found->second);
}

NodeSelector where_offered(const std::string &resource)
{
    NodeRequirement there{std::string(allocatable_field) + resource,
                          true,
                          NodeOperator::exists,
                          {}};
    return {NodeTerm{std::move(there)}};
}

bool asks_for_plugins(const Predicate &predicate)
{
    for (const NodeSelector &selector : predicate.selectors())
        for (const NodeTerm &term : selector)
            for (const NodeRequirement &one : term)
                if (one.field && one.op == NodeOperator::exists &&
                    one.key.starts_with(allocatable_field))
                    return true;
    return false;
}

} // namespace bridge
