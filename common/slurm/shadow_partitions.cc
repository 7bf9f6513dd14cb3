// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/shadow_partitions.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bridge {

Result<std::string> shadow_partitions(const std::string &node, ShadowTier tier,
                                      const std::vector<Partition> &all)
{
    std::string list;
    std::optional<std::uint16_t> best;
    for (const Partition &one : all) {
        if (!one.up || !std::ranges::contains(one.nodes, node))
            continue;
        bool better = !best || (tier == ShadowTier::highest ? one.tier > *best
                                                            : one.tier < *best);
        if (!better && one.tier != *best)
            continue;
        if (better)
            list.clear();
        best = one.tier;
        list += (list.empty() ? "" : ",") + one.name;
    }
    if (list.empty())
        return fail(Code::rejected, "no partition that is up has node " + node);
    return list;
}

} // namespace bridge
