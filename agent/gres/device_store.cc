// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/device_store.h"

#include <utility>

namespace bridge {

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
    pools_.reset();
    changed();
}

void DeviceStore::put(ResourceSlice slice, bool deleted)
{
    std::string name = slice.name;
    if (deleted)
        slices_.erase(name);
    else
        slices_[name] = std::make_shared<const ResourceSlice>(std::move(slice));
    pools_.reset();
    changed();
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

const std::vector<DevicePool> &DeviceStore::pools()
{
    if (!pools_) {
        std::vector<ResourceSlicePtr> slices;
        for (const auto &[name, slice] : slices_)
            slices.push_back(slice);
        pools_ = std::make_shared<const std::vector<DevicePool>>(
            device_pools(slices));
    }
    return *pools_;
}

std::shared_ptr<const DeviceInventory> DeviceStore::inventory()
{
    if (!known())
        return nullptr;
    if (!inventory_)
        inventory_ = std::make_shared<const DeviceInventory>(
            make_inventory(pools(), classes_, gres_, counted_));
    return inventory_;
}

std::shared_ptr<const DeviceCatalog> DeviceStore::catalog()
{
    if (catalog_)
        return catalog_;
    auto made = std::make_shared<DeviceCatalog>();
    made->classes = classes_;
    made->pools = pools();
    made->nodes = indexes_;
    made->counted = counted_;
    made->amounts = amounts_;
    made->index_counts = index_counts_;
    if (auto there = inventory())
        for (const auto &[node, cpus] : there->cpus)
            if (cpu_nodes_.contains(node))
                made->cpus.emplace(node, cpus);
    for (const DeviceGres &one : gres_)
        if (one.is_resource())
            made->plugins[one.name] = one;
        else
            made->gres[one.name] = one.gres;
    catalog_ = std::move(made);
    return catalog_;
}

} // namespace bridge
