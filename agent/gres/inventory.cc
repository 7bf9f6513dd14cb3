// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/inventory.h"

#include "agent/claims/consumed_capacity.h"
#include "agent/gres/plugin_resources.h"
#include "agent/objects/objects.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

struct Sort {
    const DeviceClass *device_class; // null: there is none of that name
    const DeviceGres *gres;
    CelBudget budget{CelSelector::max_sum};
};

class Inventory {
  public:
    Inventory(const DeviceClasses &classes,
              const std::vector<DeviceGres> &wanted,
              const std::vector<CapacityGres> &counted)
    {
        made_.counted = counted;
        for (const DeviceGres &one : wanted) {
            if (!one.is_cpus())
                made_.gres.insert(one.gres);
            if (one.is_resource()) {
                made_.resources.push_back(one);
                continue;
            }
            auto found = classes.find(one.name);
            if (found == classes.end())
                continue; // it may come
            if (found->second.unfit_reason.empty())
                sorts_.push_back({&found->second, &one});
            else
                add_warning(std::format("DeviceClass {}: {}", one.name,
                                        found->second.unfit_reason));
        }
    }

    void add(const DevicePool &pool)
    {
        DeviceInventory::Pool key{pool.driver, pool.name};
        if (!pool.usable()) {
            made_.doubtful.insert(key);
            record_doubtful_nodes(pool);
            if (!pool.unfit_reason.empty())
                add_warning(std::format("pool {} of {}: {}", pool.name,
                                        pool.driver, pool.unfit_reason));
            return;
        }
        for (const DevicePtr &device : pool.devices)
            add(device);
        add_counters(pool);
    }

    DeviceInventory made_;

  private:
    void add_warning(std::string what)
    {
        made_.warnings.push_back(std::move(what));
    }

    // Adds a complaint for the first device only: probably hundreds of devices
    // have the same problem.
    void add_warning(const Device &device, const std::string &reason)
    {
        if (said_.insert(reason).second)
            add_warning(std::format("devices such as {}: {}", device.id().str(),
                                    reason));
    }

    void add(const DevicePtr &device)
    {
        if (!is_countable(*device))
            return;
        if (has_counted_shares(*device, made_.counted)) {
            made_.stocks[device->scope->node].shared.push_back(device);
            if (gives_cpus(*device)) // none of which is a device by itself
                made_.cpus.try_emplace(device->scope->node);
            return;
        }
        const DeviceGres *sort = sort_of(*device);
        if (!sort)
            return;
        if (device->allow_multiple_allocations)
            return add_warning(*device,
                               uncounted_reason(*device, made_.counted));
        if (sort->is_cpus()) {
            made_.cpus[device->scope->node].push_back(device);
            return;
        }
        made_.present[device->scope->node].push_back(
            {sort->gres, sort->type, device->id()});
        made_.devices[device->id()] = device;
    }

    // Returns true if shares of the device are CPUs.
    bool gives_cpus(const Device &device) const
    {
        Capacities all;
        for (const auto &[name, capacity] : device.capacity)
            all[name] = capacity.value;
        return amounts_of_share(device, all, made_.counted).contains(cpu_gres);
    }

    // Notes on which Nodes an unusable pool may have devices; if it names no
    // Node, on all.
    void record_doubtful_nodes(const DevicePool &pool)
    {
        if (!std::ranges::contains(made_.counted, pool.driver,
                                   &CapacityGres::driver))
            return;
        bool placed = false;
        for (const DevicePtr &device : pool.devices)
            if (device->scope &&
                device->scope->kind == DeviceScope::Kind::node) {
                made_.doubtful_nodes.insert(device->scope->node);
                placed = true;
            }
        made_.doubtful_everywhere |= !placed;
    }

    // Adds the counters of a pool that belongs to one node. Those of any other
    // pool would be counted on each of its nodes.
    void add_counters(const DevicePool &pool)
    {
        if (!has_counted_counters(pool, made_.counted))
            return;
        NodeStock::Pool made{pool.counters, {}};
        std::set<std::string> nodes;
        for (const DevicePtr &device : pool.devices) {
            if (device->consumes.empty())
                continue;
            bool one =
                device->scope && device->scope->kind == DeviceScope::Kind::node;
            nodes.insert(one ? device->scope->node : "");
            made.partitions.push_back(device);
        }
        if (nodes.size() == 1 && !nodes.contains(""))
            made_.stocks[*nodes.begin()].pools.push_back(std::move(made));
        else if (!nodes.empty())
            add_warning(
                std::format("pool {} of {}: its counters do not belong to "
                            "exactly one node and are not counted",
                            pool.name, pool.driver));
    }

    // Returns the entry of DeviceGres for the device. Null: there is none, or a
    // selector fails.
    const DeviceGres *sort_of(const Device &device)
    {
        for (Sort &sort : sorts_) {
            auto fits = fits_class(device, sort);
            if (!fits) {
                if (sort.budget.spent())
                    made_.doubtful.emplace(device.driver, device.pool);
                add_warning(device, fits.error().message);
                return nullptr;
            }
            if (*fits)
                return sort.gres;
        }
        return nullptr;
    }

    // Returns true if the device matches the class. A class without selectors
    // matches every device.
    static Result<bool> fits_class(const Device &device, Sort &sort)
    {
        const DeviceClass &device_class = *sort.device_class;
        if (sort.budget.spent())
            return fail(
                Code::rejected,
                std::format("DeviceClass {}: its selectors are {}; what "
                            "Slurm counts of the pools that were not "
                            "compared with it stays as it is",
                            device_class.name, CelSelector::too_much_in_sum));
        for (const CelSelector &selector : device_class.selectors) {
            auto matches = selector.matches_alone(device, sort.budget);
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

} // namespace

DeviceInventory make_inventory(std::span<const DevicePool> pools,
                               const DeviceClasses &classes,
                               const std::vector<DeviceGres> &wanted,
                               const std::vector<CapacityGres> &counted)
{
    Inventory inventory(classes, wanted, counted);
    for (const DevicePool &pool : pools)
        inventory.add(pool);
    for (auto &[node, cpus] : inventory.made_.cpus)
        sort_cpus(cpus);
    return std::move(inventory.made_);
}

std::shared_ptr<const DeviceInventory> InventorySource::get() const
{
    std::call_once(once_, [this] {
        inventory_ = std::make_shared<const DeviceInventory>(
            make_inventory(*pools_, classes_, wanted_, counted_));
        made_ = true;
    });
    return inventory_;
}

std::shared_ptr<const DeviceInventory> InventorySource::if_made() const
{
    return made_ ? inventory_ : nullptr;
}

DevicesNow devices_now(const DeviceInventory &inventory,
                       const DeviceClaims &claims, const Node &node,
                       const DeviceIndex &before)
{
    DevicesNow now;
    if (auto found = inventory.present.find(node.name);
        found != inventory.present.end())
        for (const GresDevice &device : found->second) {
            DeviceInventory::Pool pool{device.id.driver, device.id.pool};
            if (!inventory.doubtful.contains(pool))
                now.known_pools.insert(std::move(pool));
            if (!claims.foreign.contains(device.id))
                now.present.push_back(device);
        }
    for (const auto &[gres, slots] : before.slots())
        for (const DeviceSlot &slot : slots)
            if (DeviceInventory::Pool pool{slot.id.driver, slot.id.pool};
                !inventory.doubtful.contains(pool))
                now.known_pools.insert(std::move(pool));
    for (const DeviceGres &resource : inventory.resources)
        add_plugin_devices(now, resource, node);
    return now;
}

std::optional<GresCounts> amounts_now(const DeviceInventory &inventory,
                                      const DeviceClaims &claims,
                                      const Node &node)
{
    if (inventory.doubtful_everywhere ||
        inventory.doubtful_nodes.contains(node.name))
        return std::nullopt;
    auto stock = inventory.stocks.find(node.name);
    if (stock == inventory.stocks.end())
        return GresCounts{};
    return amounts_of_stock(stock->second, claims, inventory.counted);
}

std::vector<std::string> overused_devices(const DeviceInventory &inventory,
                                          const DeviceClaims &claims)
{
    std::vector<std::string> found;
    for (const auto &[node, stock] : inventory.stocks)
        for (const DevicePtr &device : stock.shared) {
            auto shares = claims.shares.find(device->id());
            if (shares == claims.shares.end())
                continue;
            std::string capacity = short_capacity(*device, shares->second);
            if (!capacity.empty())
                found.push_back(std::format(
                    "ResourceClaims use more of device {} than its {}",
                    device->id().str(), capacity));
        }
    return found;
}

} // namespace bridge
