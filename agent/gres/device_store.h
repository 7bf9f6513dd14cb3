// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent knows of devices: ResourceSlices and DeviceClasses as the
// watches say them, which claims have them, and what the nodes' GRES indexes
// stand for since the last sync. Owner thread only; what it hands out may go to
// any thread.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/inventory.h"
#include "common/contract/device_gres.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class DeviceStore {
  public:
    // DeviceGres and DeviceCapacity; none: devices are nobody's business.
    explicit DeviceStore(std::vector<DeviceGres> gres,
                         std::vector<CapacityGres> counted = {});

    bool on() const { return !gres_.empty() || !counted_.empty(); }
    // Everything was listed once; until then nobody knows what is gone.
    bool known() const { return listed_slices_ && listed_classes_; }

    void replace(std::vector<ResourceSlice> slices);
    void put(ResourceSlice slice, bool deleted);
    void replace(std::vector<DeviceClass> classes);
    void put(DeviceClass device_class, bool deleted);
    // The devices of all allocated claims. True when nodes may be other ones
    // for it: those of foreign claims changed.
    bool set_claims(DeviceClaims claims);
    std::shared_ptr<const DeviceClaims> claims() const { return claims_; }

    // Null until known().
    std::shared_ptr<const DeviceInventory> inventory();
    // As it is now: a later change makes another one. Never null.
    std::shared_ptr<const DeviceCatalog> catalog();

    // Of the nodes of Slurm, by name.
    void set_indexes(std::map<std::string, DeviceIndex> indexes);
    // How many they have of what DeviceCapacity names, likewise.
    void set_amounts(std::map<std::string, GresCounts> amounts);
    // The Nodes whose CPU devices can be given: those of external nodes that
    // have names::cpu_devices_feature.
    void set_cpu_nodes(std::set<std::string> nodes);

  private:
    const std::vector<DevicePool> &pools();
    void changed();

    const std::vector<DeviceGres> gres_;
    const std::vector<CapacityGres> counted_;
    std::map<std::string, ResourceSlicePtr> slices_; // by name
    DeviceClasses classes_;
    std::shared_ptr<const DeviceClaims> claims_; // null: nobody has said any
    std::map<std::string, DeviceIndex> indexes_;
    std::map<std::string, GresCounts> amounts_;
    std::set<std::string> cpu_nodes_;
    bool listed_slices_ = false;
    bool listed_classes_ = false;
    // Made when they are asked for; null: not since the last change.
    std::shared_ptr<const std::vector<DevicePool>> pools_;
    std::shared_ptr<const DeviceInventory> inventory_;
    std::shared_ptr<const DeviceCatalog> catalog_;
};

} // namespace bridge
