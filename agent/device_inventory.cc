// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/device_inventory.h"

#include "agent/objects.h"

#include <algorithm>
#include <format>
#include <optional>
#include <utility>

namespace bridge {

namespace {

// A plugin's devices have numbers only: which of them a Pod gets, its kubelet
// decides.
constexpr char plugin_pool[] = "device-plugin";

struct Sort {
    const DeviceClass *device_class; // null: there is none of that name
    const DeviceGres *gres;
};

bool keeps_pods_away(const DeviceTaint &taint)
{
    return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

class Inventory {
  public:
    Inventory(const DeviceClasses &classes,
              const std::vector<DeviceGres> &wanted)
    {
        for (const DeviceGres &one : wanted) {
            made_.gres.insert(one.gres);
            if (one.is_resource()) {
                made_.resources.push_back(one);
                continue;
            }
            auto found = classes.find(one.name);
            if (found == classes.end())
                continue; // it may come
            if (found->second.objection.empty())
                sorts_.push_back({&found->second, &one});
            else
                complain(std::format("DeviceClass {}: {}", one.name,
                                     found->second.objection));
        }
    }

    void look_at(const DevicePool &pool)
    {
        DeviceInventory::Pool key{pool.driver, pool.name};
        if (!pool.usable()) {
            made_.doubtful.insert(key);
            if (!pool.objection.empty())
                complain(std::format("pool {} of {}: {}", pool.name,
                                     pool.driver, pool.objection));
            return;
        }
        for (const DevicePtr &device : pool.devices)
            look_at(device);
    }

    DeviceInventory made_;

  private:
    void complain(std::string what)
    {
        made_.complaints.push_back(std::move(what));
    }

    // The same of hundreds of devices, most likely: said of the first.
    void complain(const Device &device, const std::string &why)
    {
        if (said_.insert(why).second)
            complain(std::format("devices such as {}: {}", device.id().str(),
                                 why));
    }

    void look_at(const DevicePtr &device)
    {
        if (!device->scope ||
            device->scope->kind != DeviceScope::Kind::node ||
            std::ranges::any_of(device->taints, keeps_pods_away) ||
            !device_objection(*device).empty())
            return;
        const DeviceGres *sort = sort_of(*device);
        if (!sort)
            return;
        if (device->allow_multiple_allocations)
            return complain(*device, "shares of a device are not supported");
        made_.present[device->scope->node].push_back(
            {sort->gres, sort->type, device->id()});
        made_.devices[device->id()] = device;
    }

    // Null: none, or nobody can tell.
    const DeviceGres *sort_of(const Device &device)
    {
        for (const Sort &sort : sorts_) {
            auto fits = fits_class(device, *sort.device_class);
            if (!fits) {
                complain(device, fits.error().message);
                return nullptr;
            }
            if (*fits)
                return sort.gres;
        }
        return nullptr;
    }

    // A class without selectors takes every device.
    static Result<bool> fits_class(const Device &device,
                                   const DeviceClass &device_class)
    {
        for (const CelSelector &selector : device_class.selectors) {
            auto matches = selector.matches(device);
            if (!matches)
                return fail(matches.error(),
                            "DeviceClass " + device_class.name);
            if (!*matches)
                return false;
        }
        return true;
    }

    std::vector<Sort> sorts_;
    std::set<std::string> said_;
};

std::string domain_of(const std::string &resource)
{
    return resource.substr(0, resource.find('/'));
}

void add_resource(DevicesNow &now, const DeviceGres &wanted, const Node &node)
{
    std::string driver = domain_of(wanted.name);
    std::string pool =
        plugin_pool + wanted.name.substr(wanted.name.find('/'));
    now.known_pools.emplace(driver, pool);
    auto found = node.allocatable.others.find(wanted.name);
    if (found == node.allocatable.others.end())
        return;
    auto count = std::min<std::int64_t>(found->second, DeviceIndex::max_slots);
    for (std::int64_t i = 0; i < count; i++)
        now.present.push_back(
            {wanted.gres, wanted.type, {driver, pool, std::format("n{}", i)}});
}

} // namespace

DeviceInventory take_inventory(std::span<const DevicePool> pools,
                               const DeviceClasses &classes,
                               const std::vector<DeviceGres> &wanted)
{
    Inventory inventory(classes, wanted);
    for (const DevicePool &pool : pools)
        inventory.look_at(pool);
    return std::move(inventory.made_);
}

DevicesNow devices_now(const DeviceInventory &inventory,
                       const DeviceClaims &claims, const Node &node,
                       const DeviceIndex &before)
{
    DevicesNow now;
    if (auto found = inventory.present.find(node.name);
        found != inventory.present.end())
        for (const GresDevice &device : found->second) {
            now.known_pools.emplace(device.id.driver, device.id.pool);
            if (!claims.foreign.contains(device.id))
                now.present.push_back(device);
        }
    for (const auto &[gres, slots] : before.slots())
        for (const DeviceSlot &slot : slots)
            if (DeviceInventory::Pool pool{slot.id.driver, slot.id.pool};
                !inventory.doubtful.contains(pool))
                now.known_pools.insert(std::move(pool));
    for (const DeviceGres &resource : inventory.resources)
        add_resource(now, resource, node);
    return now;
}

} // namespace bridge
