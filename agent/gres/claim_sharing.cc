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

bool is_present(const DeviceIndex &index, const DeviceId &id)
{
    auto where = index.find(id);
    return where && !index.at(*where)->absent;
}

bool is_made_for_one_pod(const ResourceClaim &claim)
{
    return claim.for_extended_resources || !claim.pod_claim_name.empty();
}

// Slurm counts devices there, and which ones is not known: what the Node says
// has changed since they were allocated. Only Slurm nodes with the name of
// their Node are found.
std::string node_without_index(const ResourceClaim &claim,
                               const DeviceCatalog &catalog,
                               const std::set<std::string> &with_slurmd)
{
    if (!claim.allocated_by_us ||
        std::ranges::all_of(with_slurmd, [&](const std::string &name) {
            return catalog.nodes.contains(name);
        }))
        return {};
    for (const DeviceId &id : claim.devices) {
        DevicePtr device = find_device(catalog.pools, id);
        if (!device || !device->scope ||
            device->scope->kind != DeviceScope::Kind::node)
            continue;
        const std::string &node = device->scope->node;
        if (with_slurmd.contains(node) && !catalog.nodes.contains(node))
            return node;
    }
    return {};
}

std::string claim_in_use_reason(const Pod &pod, const ResourceClaim &claim,
                                const SharingFacts &facts)
{
    if (is_of_others(pod, claim) && has_cpus(claim, facts.catalog))
        return std::format(
            "The ResourceClaim {} has CPUs, which only one Pod at "
            "a time can use, and another Pod has them.",
            claim.key.name);
    // This includes a claim without consumers: whoever allocated it, no job
    // counts it.
    if (!claim.allocated || claim.is_reserved_for(pod.uid))
        return {};
    if (std::string node =
            slurmd_node_of(claim, facts.catalog, facts.with_slurmd);
        !node.empty())
        return std::format(
            "The ResourceClaim {} has devices of node {}, which "
            "has a slurmd: only one Pod at a time can use them, and "
            "this Pod did not get them.",
            claim.key.name, node);
    Counting counting = counted_by_slurm(claim, facts.catalog)
                            ? facts.counting(claim)
                            : Counting::now;
    if (counting == Counting::now)
        return {};
    if (counting == Counting::soon)
        return std::format("The ResourceClaim {} is about to get its "
                           "devices for another Pod.",
                           claim.key.name);
    return std::format("The ResourceClaim {} has devices that no running job "
                       "counts for this Pod: it waits until they are given "
                       "back, and gets some by a job of its own.",
                       claim.key.name);
}

} // namespace

std::string claims_in_use_reason(const Pod &pod, const DeviceNeeds &needs,
                                 const SharingFacts &facts)
{
    for (const ResourceClaimPtr &claim : needs.claims)
        if (std::string reason = claim_in_use_reason(pod, *claim, facts);
            !reason.empty())
            return reason;
    return {};
}

// Who allocated a claim is in its managedFields, which users can write. That
// its devices are in an index of Slurm they cannot change.
bool counted_by_slurm(const ResourceClaim &claim, const DeviceCatalog &catalog)
{
    if (claim.devices.empty()) // only those of adminAccess
        return false;
    return claim.allocated_by_us ||
           std::ranges::any_of(catalog.nodes, [&](const auto &node) {
               return std::ranges::any_of(
                   claim.devices, [&](const DeviceId &id) {
                       return is_present(node.second, id);
                   });
           });
}

std::string slurmd_node_of(const ResourceClaim &claim,
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
    return node_without_index(claim, catalog, with_slurmd);
}

bool is_first_consumer(const Pod &pod, const ResourceClaim &claim)
{
    return !claim.reserved_for.empty() &&
           claim.reserved_for.front().uid == pod.uid;
}

std::vector<std::string> claims_counted(const Pod &pod,
                                        const DeviceNeeds &needs)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < needs.claims.size(); i++) {
        const ResourceClaim &claim = *needs.claims[i];
        bool gets =
            std::ranges::any_of(needs.wanted, [&](const DevicesWanted &wanted) {
                return wanted.claim == i && !wanted.request->admin_access;
            });
        bool has = pod.bound() && claim.allocated && !claim.devices.empty() &&
                   is_first_consumer(pod, claim);
        if ((gets || has) && !is_made_for_one_pod(claim))
            names.push_back(claim.key.name);
    }
    return names;
}

} // namespace bridge
