// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/device_store.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

bool are_same(const NodeCpus &a, const NodeCpus &b)
{
    auto same_device = [](const DevicePtr &x, const DevicePtr &y) {
        return x == y || x->id() == y->id();
    };
    return std::ranges::equal(a, b, [&](const auto &x, const auto &y) {
        return x.first == y.first &&
               std::ranges::equal(x.second, y.second, same_device);
    });
}

} // namespace

DeviceStore::DeviceStore(std::vector<DeviceGres> gres,
                         std::vector<CapacityGres> counted)
    : gres_(std::move(gres)), counted_(std::move(counted))
{
}

void DeviceStore::replace(std::vector<ResourceSlice> slices)
{
    slices_.clear();
    for (ResourceSlice &slice : slices) {
        std::string name = slice.name;
        slices_[name] = std::make_shared<const ResourceSlice>(std::move(slice));
    }
    listed_slices_ = true;
    put_slices_ = true;
}

void DeviceStore::put(ResourceSlice slice, bool deleted)
{
    std::string name = slice.name;
    if (deleted)
        slices_.erase(name);
    else
        slices_[name] = std::make_shared<const ResourceSlice>(std::move(slice));
    put_slices_ = true;
}

bool DeviceStore::settle(Clock::time_point now)
{
    if (!put_slices_ || now < settle_due_)
        return false;
    put_slices_ = false;
    settle_due_ = now + pause;
    pools_.reset();
    changed();
    return true;
}

std::optional<Clock::time_point> DeviceStore::settle_due() const
{
    return put_slices_ ? std::optional(settle_due_) : std::nullopt;
}

void DeviceStore::replace(std::vector<DeviceClass> classes)
{
    classes_.clear();
    for (DeviceClass &one : classes) {
        std::string name = one.name;
        classes_[name] = std::move(one);
    }
    listed_classes_ = true;
    changed();
}

void DeviceStore::put(DeviceClass device_class, bool deleted)
{
    std::string name = device_class.name;
    if (deleted)
        classes_.erase(name);
    else
        classes_[name] = std::move(device_class);
    changed();
}

bool DeviceStore::set_claims(DeviceClaims claims)
{
    static const DeviceClaims none;
    const DeviceClaims &before = claims_ ? *claims_ : none;
    bool other_foreign = claims.foreign != before.foreign ||
                         claims.foreign_shares != before.foreign_shares;
    claims_ = std::make_shared<const DeviceClaims>(std::move(claims));
    return other_foreign;
}

void DeviceStore::set_indexes(std::map<std::string, DeviceIndex> indexes)
{
    if (indexes == indexes_)
        return;
    indexes_ = std::move(indexes);
    catalog_.reset();
}

void DeviceStore::set_index_counts(std::map<std::string, GresCounts> counts)
{
    if (counts == index_counts_)
        return;
    index_counts_ = std::move(counts);
    catalog_.reset();
}

void DeviceStore::set_amounts(std::map<std::string, GresCounts> amounts)
{
    if (amounts == amounts_)
        return;
    amounts_ = std::move(amounts);
    catalog_.reset();
}

void DeviceStore::set_cpu_nodes(std::set<std::string> nodes)
{
    if (nodes == cpu_nodes_)
        return;
    cpu_nodes_ = std::move(nodes);
    catalog_.reset();
}

void DeviceStore::changed()
{
    inventory_.reset();
    catalog_.reset();
}

const InventorySource::Pools &DeviceStore::pools()
{
    if (!pools_) {
        std::vector<ResourceSlicePtr> slices;
        for (const auto &[name, slice] : slices_)
            slices.push_back(slice);
        pools_ = std::make_shared<const std::vector<DevicePool>>(
            device_pools(slices));
    }
    return pools_;
}

std::shared_ptr<const InventorySource> DeviceStore::inventory()
{
    if (!known())
        return nullptr;
    if (!inventory_)
        inventory_ = std::make_shared<const InventorySource>(pools(), classes_,
                                                             gres_, counted_);
    return inventory_;
}

void DeviceStore::take_inventory(std::shared_ptr<const DeviceInventory> made)
{
    if (!made || made == made_)
        return;
    static const NodeCpus none;
    bool same = are_same(made->cpus, made_ ? made_->cpus : none);
    made_ = std::move(made);
    if (!same)
        catalog_.reset();
}

// Those that were there when the inventory was made last, as they are now.
NodeCpus DeviceStore::cpus_there()
{
    NodeCpus there;
    if (!made_ || made_->cpus.empty())
        return there;
    std::set<DeviceInventory::Pool> of_cpus;
    for (const auto &[node, cpus] : made_->cpus)
        for (const DevicePtr &cpu : cpus)
            of_cpus.emplace(cpu->driver, cpu->pool);
    std::map<DeviceId, DevicePtr> devices;
    for (const DevicePool &pool : *pools())
        if (pool.usable() && of_cpus.contains({pool.driver, pool.name}))
            for (const DevicePtr &device : pool.devices)
                devices[device->id()] = device;
    for (const auto &[node, cpus] : made_->cpus) {
        if (!cpu_nodes_.contains(node))
            continue;
        std::vector<DevicePtr> &now = there[node];
        for (const DevicePtr &cpu : cpus)
            if (auto found = devices.find(cpu->id()); found != devices.end())
                now.push_back(found->second);
    }
    return there;
}

std::shared_ptr<const DeviceCatalog> DeviceStore::catalog()
{
    if (catalog_)
        return catalog_;
    auto made = std::make_shared<DeviceCatalog>();
    made->classes = classes_;
    made->pools = *pools();
    made->nodes = indexes_;
    made->counted = counted_;
    made->amounts = amounts_;
    made->index_counts = index_counts_;
    made->cpus = cpus_there();
    for (const DeviceGres &one : gres_)
        if (one.is_resource())
            made->plugins[one.name] = one;
        else
            made->gres[one.name] = one.gres;
    catalog_ = std::move(made);
    return catalog_;
}

} // namespace bridge
