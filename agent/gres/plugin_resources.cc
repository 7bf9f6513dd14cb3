// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/plugin_resources.h"

#include "agent/objects/objects.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

// Prefix of the pool name of device plugins' devices, where devices of DRA
// drivers have the driver's pool.
constexpr std::string_view pool_prefix = "device-plugin/";

// Returns the pool of a resource: device-plugin/gpu of driver nvidia.com for
// nvidia.com/gpu.
DeviceId pool_of(const std::string &resource)
{
    std::size_t slash = resource.find('/');
    return {resource.substr(0, slash),
            std::string(pool_prefix) + resource.substr(slash + 1),
            {}};
}

bool is_in_pool(const DeviceId &device, const DeviceId &pool)
{
    return device.driver == pool.driver && device.pool == pool.pool;
}

} // namespace

void add_plugin_devices(DevicesNow &now, const DeviceGres &wanted,
                        const Node &node)
{
    DeviceId device = pool_of(wanted.name);
    now.known_pools.emplace(device.driver, device.pool);
    auto count = std::min<std::int64_t>(offered(node, wanted.name),
                                        DeviceIndex::max_slots);
    for (std::int64_t i = 0; i < count; i++) {
        device.device = std::format("n{}", i);
        now.present.push_back({wanted.gres, wanted.type, device});
    }
}

bool is_of_plugin(const DeviceId &device)
{
    return device.pool.starts_with(pool_prefix);
}

bool is_counted(const DeviceIndex &index, const PluginWish &wish)
{
    auto found = index.slots().find(wish.gres);
    return found != index.slots().end() &&
           std::ranges::any_of(found->second, [&](const DeviceSlot &slot) {
               return is_in_pool(slot.id, pool_of(wish.resource));
           });
}

std::string too_few_devices_reason(const DeviceIndex &index,
                                   const std::vector<JobGres> &given,
                                   const std::vector<PluginWish> &wishes)
{
    std::map<std::string, std::int64_t> needs; // by resource
    for (const PluginWish &wish : wishes)
        needs[wish.resource] += wish.count;
    for (const auto &[resource, count] : needs) {
        std::int64_t has = 0;
        for (const JobGres &one : given)
            for (std::uint32_t i : one.indexes)
                if (const DeviceSlot *slot = index.at({one.gres, i}))
                    has += is_in_pool(slot->id, pool_of(resource));
        if (has < count)
            return std::format("{} of its GRES are {}, but {} are needed", has,
                               resource, count);
    }
    return {};
}

std::map<std::string, std::uint32_t>
missing_plugin_gres(const DeviceIndex &index, const std::vector<GresCount> &has)
{
    struct Tally {
        std::uint32_t there = 0;
        std::uint32_t missing = 0; // of device plugins'
    };
    std::map<std::string, Tally> tallies; // by "gpu:a100"
    for (const auto &[gres, slots] : index.slots())
        for (const DeviceSlot &slot : slots) {
            Tally &tally = tallies[gres + ":" + slot.type];
            bool of_plugin = is_of_plugin(slot.id);
            tally.there += !slot.absent || !of_plugin;
            tally.missing += slot.absent && of_plugin;
        }
    std::map<std::string, std::uint32_t> missing;
    for (const GresCount &one : has) {
        auto found = tallies.find(one.gres + ":" + one.type);
        if (found == tallies.end() || one.count <= found->second.there)
            continue;
        auto lacks =
            std::min(one.count - found->second.there, found->second.missing);
        if (lacks != 0)
            missing[found->first] = lacks;
    }
    return missing;
}

} // namespace bridge
