// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/sizes.h"

#include "agent/nodes/gres.h"

#include <algorithm>

namespace bridge {

namespace {

void add(std::vector<NodeSize> &sizes, const NodeSize &size)
{
    auto same = [&](const NodeSize &known) {
        return known.is_as_large_as(size);
    };
    if (std::ranges::none_of(sizes, same))
        sizes.push_back(size);
}

} // namespace

void SizeTable::put(const SlurmNode &node)
{
    sizes_[node.name] = {node.name, node.cpus, node.memory, sums_in(node.gres),
                         all_counted(node.gres)};
}

void SizeTable::put(const NodeDescription &made)
{
    sizes_[made.name] = {made.name, made.cpus, made.memory, sums_in(made.gres)};
}

NodeSizes SizeTable::by_feature(
    const std::map<std::string, std::vector<std::string>> &features) const
{
    NodeSizes sizes;
    for (const auto &[node, of_it] : features) {
        auto known = sizes_.find(node);
        if (known == sizes_.end())
            continue;
        add(sizes[""], known->second);
        for (const std::string &feature : of_it)
            add(sizes[feature], known->second);
    }
    return sizes;
}

} // namespace bridge
