// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_cpus.h"

#include "agent/gres/claim_sharing.h"

#include <algorithm>
#include <format>
#include <map>
#include <string>

namespace bridge {

namespace {

constexpr std::uint32_t most_cpus = UINT16_MAX; // of a task, in Slurm

// Returns the name of the request without the choice: containers refer to that.
std::string group_of(const std::string &request)
{
    return request.substr(0, request.find('/'));
}

bool is_cpu_class(const DeviceCatalog &catalog, const std::string &name)
{
    auto found = catalog.gres.find(name);
    return found != catalog.gres.end() && found->second == cpu_gres;
}

// Returns true if the device is a CPU. If the driver is not running it has no
// devices, and the classes of the claim decide.
bool is_cpu(const DeviceCatalog &catalog, const ResourceClaim &claim,
            const DeviceId &id)
{
    for (const auto &[node, cpus] : catalog.cpus)
        if (!cpus.empty() && cpus.front()->driver == id.driver &&
            cpus.front()->pool == id.pool)
            return std::ranges::contains(cpus, id, &Device::id);
    auto is_for_cpus = [&](const ClaimRequest &group) {
        return std::ranges::all_of(
            group.choices, [&](const DeviceRequest &choice) {
                return is_cpu_class(catalog, choice.class_name);
            });
    };
    return !claim.requests.empty() &&
           std::ranges::all_of(claim.requests, is_for_cpus);
}

// Returns the CPUs of one device of the request, or of one share.
std::int64_t cpus_of(const DevicesWanted &wanted)
{
    if (wanted.request->admin_access)
        return 0;
    auto share = wanted.wish.amounts.find(cpu_gres);
    return asks_cpus(wanted) + (share == wanted.wish.amounts.end()
                                    ? 0
                                    : static_cast<std::int64_t>(share->second));
}

// Returns the CPUs that the claim's shares of devices consume.
std::int64_t cpus_in_shares(const ResourceClaim &claim,
                            const DeviceCatalog &catalog)
{
    std::int64_t cpus = 0;
    for (const auto &[id, consumed] : claim.consumed) {
        Device device;
        device.driver = id.driver;
        GresCounts amounts =
            amounts_of_share(device, consumed, catalog.counted);
        if (auto found = amounts.find(cpu_gres); found != amounts.end())
            cpus += static_cast<std::int64_t>(found->second);
    }
    return cpus;
}

using ByRequest = std::map<std::string, std::int64_t>;

// Returns the CPUs of an allocated claim by request. The device of each request
// is not stored; if the requests cannot tell, the CPUs are counted for the
// claim as a whole.
ByRequest cpus_in(const ResourceClaim &claim, const DeviceCatalog &catalog)
{
    std::string only =
        claim.requests.size() == 1 ? claim.requests.front().name : "";
    std::int64_t shares = cpus_in_shares(claim, catalog);
    std::int64_t cpus =
        std::ranges::count_if(claim.devices, [&](const DeviceId &id) {
            return !claim.in_shares.contains(id) && is_cpu(catalog, claim, id);
        });
    if (shares > 0)
        return {{only, shares + cpus}};
    ByRequest told;
    std::int64_t sum = 0;
    for (const ClaimRequest &group : claim.requests) {
        const DeviceRequest &request = group.choices.front();
        if (group.choices.size() != 1 || request.all || request.admin_access ||
            !is_cpu_class(catalog, request.class_name))
            continue;
        told[group.name] = request.count;
        sum += request.count;
    }
    return sum == cpus ? told : ByRequest{{only, cpus}};
}

// Whether the CPUs of the claim are those of this Pod: it is the first
// consumer, or there is none yet.
bool counts_here(const Pod &pod, const ResourceClaim &claim)
{
    return claim.reserved_for.empty() ||
           claim.reserved_for.front().uid == pod.uid;
}

ClaimCpus claim_cpus_of(const Pod &pod, const DeviceNeeds &needs,
                        const DeviceCatalog &catalog)
{
    ClaimCpus made;
    for (std::size_t c = 0; c < needs.claims.size(); c++) {
        const ResourceClaim &claim = *needs.claims[c];
        auto entry = std::ranges::find(pod.resource_claims, claim.key.name,
                                       &PodClaim::claim);
        // A claim for extended resources has no entry.
        ByRequest &cpus =
            made[entry == pod.resource_claims.end() ? "" : entry->entry];
        if (claim.allocated && counts_here(pod, claim))
            cpus = cpus_in(claim, catalog);
        for (const DevicesWanted &wanted : needs.wanted)
            if (wanted.claim == c && cpus_of(wanted) > 0)
                cpus[group_of(wanted.request->name)] +=
                    wanted.count * cpus_of(wanted);
    }
    return made;
}

bool asks_for_cpus(const ResourceClaim &claim, const DeviceCatalog &catalog)
{
    return std::ranges::any_of(claim.requests, [&](const ClaimRequest &group) {
        return std::ranges::any_of(
            group.choices, [&](const DeviceRequest &choice) {
                return !choice.admin_access &&
                       is_cpu_class(catalog, choice.class_name);
            });
    });
}

bool has_any(const ClaimCpus &claims)
{
    return std::ranges::any_of(claims, [](const auto &claim) {
        return std::ranges::any_of(claim.second, [](const auto &request) {
            return request.second > 0;
        });
    });
}

} // namespace

bool has_cpus(const ResourceClaim &claim, const DeviceCatalog &catalog)
{
    return std::ranges::any_of(
        cpus_in(claim, catalog),
        [](const auto &request) { return request.second > 0; });
}

std::string not_together_reason(std::span<const PodPtr> pods,
                                const ClaimFacts &facts,
                                const DeviceCatalog &catalog,
                                const std::set<std::string> &with_slurmd)
{
    std::map<ObjectKey, PodPtr> first; // that names the claim
    for (const PodPtr &pod : pods)
        for (const PodClaim &entry : pod->resource_claims) {
            if (entry.claim.empty())
                continue;
            ObjectKey key{pod->key.ns, entry.claim};
            PodPtr other = first.try_emplace(key, pod).first->second;
            ResourceClaimPtr claim =
                other == pod ? nullptr : facts.find_claim(key);
            if (claim && (claim->allocated ? has_cpus(*claim, catalog)
                                           : asks_for_cpus(*claim, catalog)))
                return std::format(
                    "Pods {} and {} share the ResourceClaim {}, "
                    "but only one Pod at a time can have its CPUs",
                    other->key.name, pod->key.name, key.name);
            if (!claim || !claim->allocated)
                continue;
            if (std::string node = slurmd_node_of(*claim, catalog, with_slurmd);
                !node.empty())
                return std::format(
                    "Pods {} and {} share the ResourceClaim {}, but only one "
                    "Pod at a time can have its devices of node {}, which has "
                    "a slurmd",
                    other->key.name, pod->key.name, key.name, node);
        }
    return {};
}

void record_cpus(const Pod &pod, const DeviceNeeds &needs,
                 const DeviceCatalog &catalog, GangDevices &devices)
{
    devices.on_cpu_nodes |= std::ranges::any_of(
        needs.wanted, [](const auto &wanted) { return cpus_of(wanted) > 0; });
    ClaimCpus claims = claim_cpus_of(pod, needs, catalog);
    if (!has_any(claims))
        return;
    std::uint32_t cpus =
        whole_cpus_up(cpus_with_claims(pod.cpus, pod.requests.cpu, claims));
    if (cpus > most_cpus && devices.unfit_reason.empty())
        devices.unfit_reason = "no Slurm task can have more than 65535 CPUs";
    devices.cpus[pod.uid] = std::min(cpus, most_cpus);
}

bool wants_cpus(const DeviceNeeds &needs)
{
    return std::ranges::any_of(needs.wanted, asks_cpus);
}

} // namespace bridge
