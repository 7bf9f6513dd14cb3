// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent knows about devices: ResourceSlices and DeviceClasses as the
// watches report them, which claims have devices, and what the GRES indexes of
// the nodes stand for since the last sync. Owner thread only; the values that
// it hands out may go to any thread.
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
    // DeviceGres and DeviceCapacity of k8s.conf. If both are empty, devices are
    // ignored.
    explicit DeviceStore(std::vector<DeviceGres> gres,
                         std::vector<CapacityGres> counted = {});

    bool on() const { return !gres_.empty() || !counted_.empty(); }
    // Returns true once slices and classes have been listed. Before that, a
    // missing device may exist.
    bool known() const { return listed_slices_ && listed_classes_; }

    void replace(std::vector<ResourceSlice> slices);
    void put(ResourceSlice slice, bool deleted);
    void replace(std::vector<DeviceClass> classes);
    void put(DeviceClass device_class, bool deleted);
    // Sets the devices of all allocated claims. Returns true if those of
    // foreign claims changed, which can change the nodes.
    bool set_claims(DeviceClaims claims);
    std::shared_ptr<const DeviceClaims> claims() const { return claims_; }

    // Returns null until known().
    std::shared_ptr<const DeviceInventory> inventory();
    // Returns the current state, never null. A later change creates a new
    // object.
    std::shared_ptr<const DeviceCatalog> catalog();

    // Sets the indexes of all nodes, by name of the Slurm node.
    void set_indexes(std::map<std::string, DeviceIndex> indexes);
    // Sets how many of them Slurm has, likewise: see DeviceCatalog.
    void set_index_counts(std::map<std::string, GresCounts> counts);
    // Sets the amounts of what DeviceCapacity names, likewise.
    void set_amounts(std::map<std::string, GresCounts> amounts);
    // Sets the Nodes whose CPU devices can be allocated: those of external
    // nodes that have names::cpu_devices_feature.
    void set_cpu_nodes(std::set<std::string> nodes);

  private:
    const std::vector<DevicePool> &pools();
    void changed();

    const std::vector<DeviceGres> gres_;
    const std::vector<CapacityGres> counted_;
    std::map<std::string, ResourceSlicePtr> slices_; // by name
    DeviceClasses classes_;
    std::shared_ptr<const DeviceClaims> claims_; // null: not set yet
    std::map<std::string, DeviceIndex> indexes_;
    std::map<std::string, GresCounts> index_counts_;
    std::map<std::string, GresCounts> amounts_;
    std::set<std::string> cpu_nodes_;
    bool listed_slices_ = false;
    bool listed_classes_ = false;
    // Computed on demand; null: not computed since the last change.
    std::shared_ptr<const std::vector<DevicePool>> pools_;
    std::shared_ptr<const DeviceInventory> inventory_;
    std::shared_ptr<const DeviceCatalog> catalog_;
};

} // namespace bridge
