// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent knows about devices: ResourceSlices and DeviceClasses as the
// watches report them, which claims have devices, and what the GRES indexes of
// the nodes stand for since the last sync. Owner thread only; the values that
// it hands out may go to any thread.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/inventory.h"
#include "common/base/mailbox.h"
#include "common/contract/device_gres.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
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

    // Changes of slices are seen by settle().
    void replace(std::vector<ResourceSlice> slices);
    void put(ResourceSlice slice, bool deleted);
    // From now on, slices are as they have been put; but not more often than
    // once a pause, since all devices are looked at anew then. Returns whether
    // there were any.
    static constexpr std::chrono::seconds pause{1};
    bool settle(Clock::time_point now);
    // Returns when settle() is due; nothing: no slices have been put since.
    std::optional<Clock::time_point> settle_due() const;
    void replace(std::vector<DeviceClass> classes);
    void put(DeviceClass device_class, bool deleted);
    // Sets the devices of all allocated claims. Returns true if those of
    // foreign claims changed, which can change the nodes.
    bool set_claims(DeviceClaims claims);
    std::shared_ptr<const DeviceClaims> claims() const { return claims_; }

    // Returns null until known(). To be made by a worker.
    std::shared_ptr<const InventorySource> inventory();
    // It was made of what inventory() returned; null: there was none.
    void take_inventory(std::shared_ptr<const DeviceInventory> made);
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
    const InventorySource::Pools &pools();
    NodeCpus cpus_there();
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
    bool put_slices_ = false; // since they were settled
    Clock::time_point settle_due_{};
    bool listed_slices_ = false;
    bool listed_classes_ = false;
    // Computed on demand; null: not computed since the last change.
    InventorySource::Pools pools_;
    std::shared_ptr<const InventorySource> inventory_;
    std::shared_ptr<const DeviceCatalog> catalog_;
    // That of the last sync of the nodes.
    std::shared_ptr<const DeviceInventory> made_;
};

} // namespace bridge
