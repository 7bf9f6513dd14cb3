// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_sharing.h"

#include "agent/gres/claim_cpus.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

bool is_of_others(const Pod &pod, const ResourceClaim &claim)
{
    return claim.allocated && !claim.reserved_for.empty() &&
           !claim.is_reserved_for(pod.uid);
}

// Returns the Slurm node with a slurmd that counts some devices of the claim by
// indexes, or "".
std::string node_of_gres(const ResourceClaim &claim,
                         const DeviceCatalog &catalog,
                         const std::set<std::string> &with_slurmd)
{
    for (const std::string &name : with_slurmd) {
        auto index = catalog.nodes.find(name);
        if (index != catalog.nodes.end() &&
            std::ranges::any_of(claim.devices, [&](const DeviceId &id) {
                return index->second.find(id).has_value();
            }))
            return name;
    }
    return {};
}

std::string claim_in_use_reason(const Pod &pod, const ResourceClaim &claim,
                                const DeviceCatalog &catalog,
                                const std::set<std::string> &with_slurmd)
{
    if (is_of_others(pod, claim) && has_cpus(claim, catalog))
        return std::format(
            "The ResourceClaim {} has CPUs, which only one Pod at "
            "a time can use, and another Pod has them.",
            claim.key.name);
    // This includes a claim without consumers: whoever allocated it, no job
    // counts it.
    if (!claim.allocated || claim.is_reserved_for(pod.uid))
        return {};
    std::string node = node_of_gres(claim, catalog, with_slurmd);
    return node.empty()
               ? std::string()
               : std::format(
                     "The ResourceClaim {} has devices of node {}, which "
                     "has a slurmd: only one Pod at a time can use them, and "
                     "this Pod did not get them.",
                     claim.key.name, node);
}

} // namespace

std::string claims_in_use_reason(const Pod &pod, const DeviceNeeds &needs,
                                 const DeviceCatalog &catalog,
                                 const std::set<std::string> &with_slurmd)
{
    for (const ResourceClaimPtr &claim : needs.claims)
        if (std::string reason =
                claim_in_use_reason(pod, *claim, catalog, with_slurmd);
            !reason.empty())
            return reason;
    return {};
}

} // namespace bridge
