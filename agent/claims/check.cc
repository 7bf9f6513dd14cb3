// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whole claims; device_fit.cc checks one device for one request.
#include "agent/claims/check.h"

#include "agent/claims/constraints.h"

#include <algorithm>
#include <format>
#include <set>

namespace bridge {

namespace {

constexpr std::size_t max_results = 32; // the API server's

using Chosen = std::span<const ChosenDevice>;

Result<const DeviceClass *> class_of(const DeviceRequest &request,
                                     const DeviceClasses &classes)
{
    auto found = classes.find(request.class_name);
    if (found == classes.end())
        return fail(Code::not_found, std::format("there is no DeviceClass {}",
                                                 request.class_name));
    if (!found->second.unfit_reason.empty())
        return fail(Code::rejected,
                    std::format("DeviceClass {}: {}", request.class_name,
                                found->second.unfit_reason));
    return &found->second;
}

Result<std::string> each_fits(const ResourceClaim &claim,
                              const DeviceClasses &classes, Chosen chosen,
                              std::span<const DevicePool> pools,
                              const Node &node, CelBudget &budget)
{
    for (const ChosenDevice &one : chosen) {
        const DeviceRequest *request = find_request(claim, one.request);
        if (!request)
            return quoted(one, "the claim has no such request");
        DevicePtr device = find_usable_device(pools, one.device->id());
        if (!device)
            return quoted(one, "no ResourceSlice has it");
        auto device_class = class_of(*request, classes);
        if (!device_class)
            return std::unexpected(device_class.error());
        auto reason = unfit_device_reason(*device, *request, **device_class,
                                          node, budget);
        if (!reason)
            return std::unexpected(reason.error());
        if (!reason->empty())
            return quoted(one, *reason);
        if (device->allow_multiple_allocations == one.share_id.empty())
            return quoted(
                one, "its shareID does not match allowMultipleAllocations");
    }
    return std::string();
}

// Returns the number of devices that fit, for allocationMode All.
Result<std::int64_t> count_all(const DeviceRequest &request,
                               const DeviceClass &device_class,
                               std::span<const DevicePool> pools,
                               const Node &node, CelBudget &budget)
{
    std::int64_t count = 0;
    for (const DevicePool &pool : pools)
        for (const DevicePtr &device : pool.devices) {
            if (!is_on(*device, node))
                continue;
            if (!pool.usable())
                return fail(Code::busy,
                            std::format("pool {}/{} cannot be used now",
                                        pool.driver, pool.name));
            auto reason = unfit_device_reason(*device, request, device_class,
                                              node, budget);
            if (!reason)
                return std::unexpected(reason.error());
            count += reason->empty();
        }
    return count;
}

Result<std::string> number_fits(const ClaimRequest &group,
                                const DeviceClasses &classes, Chosen chosen,
                                std::span<const DevicePool> pools,
                                const Node &node, CelBudget &budget)
{
    const DeviceRequest *used = nullptr;
    std::int64_t devices = 0;
    for (const DeviceRequest &choice : group.choices) {
        auto of_it =
            std::ranges::count(chosen, choice.name, &ChosenDevice::request);
        if (of_it > 0 && used)
            return std::format("request {} has devices of two choices",
                               group.name);
        if (of_it > 0) {
            used = &choice;
            devices = of_it;
        }
    }
    if (!used)
        return std::format("request {} has no device", group.name);
    std::int64_t wanted = used->count;
    if (used->all) {
        auto device_class = class_of(*used, classes);
        if (!device_class)
            return std::unexpected(device_class.error());
        auto all = count_all(*used, **device_class, pools, node, budget);
        if (!all)
            return std::unexpected(all.error());
        wanted = *all;
    }
    if (devices != wanted)
        return std::format("request {} has {} devices and wants {}", used->name,
                           devices, wanted);
    return std::string();
}

std::string none_twice(const ResourceClaim &claim, Chosen chosen)
{
    std::set<DeviceId> seen;
    std::map<DeviceId, std::map<QualifiedName, WideInt>> sums; // nanos
    for (const ChosenDevice &one : chosen) {
        const Device &device = *one.device;
        if (!device.allow_multiple_allocations) {
            if (!seen.insert(device.id()).second)
                return quoted(one, "the claim has it already");
            continue;
        }
        auto taken =
            consumed_capacity(device, *find_request(claim, one.request));
        for (const auto &[name, amount] : taken.value_or(Capacities())) {
            WideInt &sum = sums[device.id()][name];
            sum += amount.nanos();
            if (sum > device.capacity.at(name).value.nanos())
                return quoted(one, "the claim takes more than its capacity");
        }
    }
    return {};
}

} // namespace

const DeviceRequest *find_request(const ResourceClaim &claim,
                                  const std::string &name)
{
    for (const ClaimRequest &group : claim.requests)
        for (const DeviceRequest &choice : group.choices)
            if (choice.name == name)
                return &choice;
    return nullptr;
}

Result<std::string> no_allocation_reason(const ResourceClaim &claim,
                                         const DeviceClasses &classes,
                                         std::span<const ChosenDevice> chosen,
                                         std::span<const DevicePool> pools,
                                         const Node &node, CelBudget &budget)
{
    if (!claim.unfit_reason.empty())
        return fail(Code::rejected, claim.unfit_reason);
    if (chosen.size() > max_results)
        return std::format("a claim has at most {} devices", max_results);
    auto reason = each_fits(claim, classes, chosen, pools, node, budget);
    if (!reason || !reason->empty())
        return reason;
    for (const ClaimRequest &group : claim.requests) {
        reason = number_fits(group, classes, chosen, pools, node, budget);
        if (!reason || !reason->empty())
            return reason;
    }
    std::string rest = none_twice(claim, chosen);
    return rest.empty() ? unmet_constraint_reason(claim, chosen) : rest;
}

} // namespace bridge
