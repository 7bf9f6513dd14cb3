// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/device_store.h"

#include <utility>

namespace bridge {

DeviceStore::DeviceStore(std::vector<DeviceGres> gres) : gres_(std::move(gres))
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
    bool other_foreign =
        claims.foreign != (claims_ ? claims_->foreign : std::set<DeviceId>{});
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
            take_inventory(pools(), classes_, gres_));
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
    for (const DeviceGres &one : gres_)
        if (!one.is_resource())
            made->gres[one.name] = one.gres;
    catalog_ = std::move(made);
    return catalog_;
}

} // namespace bridge
