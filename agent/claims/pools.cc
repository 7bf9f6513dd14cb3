// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/pools.h"

#include "agent/objects/objects.h"

#include <algorithm>
#include <format>
#include <functional>
#include <map>
#include <utility>

namespace bridge {

namespace {

using PoolSlices = std::vector<ResourceSlicePtr>;

// Returns the slices of the newest generation of each pool, sorted by name.
std::map<std::pair<std::string, std::string>, PoolSlices>
newest_slices(std::span<const ResourceSlicePtr> slices)
{
    std::map<std::pair<std::string, std::string>, PoolSlices> pools;
    for (const ResourceSlicePtr &slice : slices) {
        PoolSlices &pool = pools[{slice->driver, slice->pool}];
        if (!pool.empty() && slice->generation < pool.front()->generation)
            continue;
        if (!pool.empty() && slice->generation > pool.front()->generation)
            pool.clear();
        pool.push_back(slice);
    }
    for (auto &[key, pool] : pools)
        std::ranges::sort(pool, {}, &ResourceSlice::name);
    return pools;
}

// Slices may disagree on the number of slices; the pool then counts as
// incomplete.
bool is_complete(const PoolSlices &slices)
{
    return std::ranges::all_of(slices, [&](const ResourceSlicePtr &slice) {
        return std::cmp_equal(slices.size(), slice->slices_in_pool);
    });
}

std::string duplicate_name(const std::vector<DevicePtr> &devices)
{
    std::set<std::string_view> names;
    for (const DevicePtr &device : devices)
        if (!names.insert(device->name).second)
            return device->name;
    return {};
}

// Returns a counter ("set/counter") that a device uses but the pool does not
// have, or "".
std::string unknown_counter(const DevicePool &pool)
{
    for (const DevicePtr &device : pool.devices)
        for (const auto &[set, counters] : device->consumes)
            for (const auto &[name, value] : counters) {
                auto found = pool.counters.find(set);
                if (found == pool.counters.end() ||
                    !found->second.contains(name))
                    return set + "/" + name;
            }
    return {};
}

void check(DevicePool &pool)
{
    if (!pool.unfit_reason.empty())
        return;
    if (std::string name = duplicate_name(pool.devices); !name.empty())
        pool.unfit_reason = std::format("device {} is in it twice", name);
    else if (std::string counter = unknown_counter(pool); !counter.empty())
        pool.unfit_reason = std::format("it has no counter {}", counter);
}

DevicePool pool_of(const PoolSlices &slices)
{
    DevicePool pool;
    pool.driver = slices.front()->driver;
    pool.name = slices.front()->pool;
    pool.generation = slices.front()->generation;
    pool.complete = is_complete(slices);
    for (const ResourceSlicePtr &slice : slices) {
        if (pool.unfit_reason.empty())
            pool.unfit_reason = slice->unfit_reason;
        pool.devices.insert(pool.devices.end(), slice->devices.begin(),
                            slice->devices.end());
        for (const auto &[name, counters] : slice->shared_counters)
            if (!pool.counters.emplace(name, counters).second &&
                pool.unfit_reason.empty())
                pool.unfit_reason =
                    std::format("counter set {} is in it twice", name);
    }
    if (pool.complete)
        check(pool);
    return pool;
}

bool has_binding_conditions(const DevicePool &pool)
{
    return std::ranges::any_of(pool.devices, [](const DevicePtr &device) {
        return !device->binding_conditions.empty();
    });
}

template <class Predicate>
DevicePtr find_in(std::span<const DevicePool> pools, const DeviceId &id,
                  Predicate may_be_in)
{
    for (const DevicePool &pool : pools) {
        if (pool.driver != id.driver || pool.name != id.pool ||
            !std::invoke(may_be_in, pool))
            continue;
        auto found = std::ranges::find(pool.devices, id.device, &Device::name);
        if (found != pool.devices.end())
            return *found;
    }
    return nullptr;
}

} // namespace

std::vector<DevicePool> device_pools(std::span<const ResourceSlicePtr> slices)
{
    std::vector<DevicePool> pools;
    for (const auto &[key, of_pool] : newest_slices(slices))
        pools.push_back(pool_of(of_pool));
    std::ranges::stable_partition(pools, [](const DevicePool &pool) {
        return !has_binding_conditions(pool);
    });
    return pools;
}

DevicePtr find_device(std::span<const DevicePool> pools, const DeviceId &id)
{
    return find_in(pools, id, [](const DevicePool &) { return true; });
}

DevicePtr find_usable_device(std::span<const DevicePool> pools,
                             const DeviceId &id)
{
    return find_in(pools, id, &DevicePool::usable);
}

bool is_on(const Device &device, const Node &node)
{
    if (!device.scope)
        return false;
    switch (device.scope->kind) {
    case DeviceScope::Kind::none:
        return false;
    case DeviceScope::Kind::node:
        return device.scope->node == node.name;
    case DeviceScope::Kind::selector:
        return matches(device.scope->selector, node);
    case DeviceScope::Kind::all:
        return true;
    }
    return false;
}

std::string unsupported_device_reason(const Device &device)
{
    for (const auto &[name, value] : device.attributes)
        if (std::holds_alternative<std::monostate>(value))
            return std::format("its attribute {} is of an unknown kind", name);
    if (!device.binding_conditions.empty())
        return "it has binding conditions, which are not supported";
    return {};
}

bool is_countable(const Device &device)
{
    auto keeps_pods_away = [](const DeviceTaint &taint) {
        return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    };
    return device.scope && device.scope->kind == DeviceScope::Kind::node &&
           std::ranges::none_of(device.taints, keeps_pods_away) &&
           unsupported_device_reason(device).empty();
}

CounterSets counters_left(const DevicePool &pool,
                          const std::set<std::string> &allocated)
{
    CounterSets left = pool.counters;
    for (const DevicePtr &device : pool.devices) {
        if (!allocated.contains(device->name))
            continue;
        for (const auto &[set, counters] : device->consumes)
            for (const auto &[name, taken] : counters) {
                Quantity &amount = left[set][name];
                amount =
                    Quantity(amount.nanos() - taken.nanos(), amount.format());
            }
    }
    return left;
}

bool counters_suffice(const Device &device, const CounterSets &left)
{
    for (const auto &[set, counters] : device.consumes)
        for (const auto &[name, wanted] : counters) {
            auto of_set = left.find(set);
            if (of_set == left.end())
                return false;
            auto amount = of_set->second.find(name);
            if (amount == of_set->second.end() || wanted > amount->second)
                return false;
        }
    return true;
}

} // namespace bridge
