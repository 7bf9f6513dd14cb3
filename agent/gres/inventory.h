// SPDX-License-Identifier: GPL-2.0-or-later
// The devices that Slurm counts on each node: devices of the cluster's pools
// that match one of the DeviceClasses in DeviceGres of k8s.conf, and devices
// that kubelets count for device plugins. Pure.
#pragma once

#include "agent/claims/check.h"
#include "agent/claims/cpu_devices.h"
#include "agent/claims/pools.h"
#include "agent/gres/amounts.h"
#include "agent/gres/index.h"
#include "common/contract/device_gres.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

struct DeviceInventory {
    using Pool = std::pair<std::string, std::string>; // driver and name

    std::map<std::string, std::vector<GresDevice>> present; // by Node
    std::map<DeviceId, DevicePtr> devices; // the devices in present
    NodeCpus cpus; // devices that are Slurm's CPUs, sorted; not in present
    // Pools that are incomplete or must not be used: nothing is known about
    // their devices.
    std::set<Pool> doubtful;
    std::set<std::string> gres; // all that DeviceGres names, except CPUs
    // The entries of DeviceGres for device plugins.
    std::vector<DeviceGres> resources;
    std::vector<CapacityGres> counted; // DeviceCapacity
    // What DeviceCapacity counts, by Node.
    std::map<std::string, NodeStock> stocks;
    // The Nodes on which a doubtful pool may have devices that DeviceCapacity
    // counts.
    std::set<std::string> doubtful_nodes;
    bool doubtful_everywhere = false;
    std::vector<std::string> warnings; // warnings for the log
};

// Assigns each device to the first class in the list whose selectors match.
// Counts only devices of exactly one node that have no taint NoSchedule or
// NoExecute and may be chosen at all. Evaluates the selectors for every device,
// for each class within CelSelector::max_sum: the pools of devices for which a
// class has none of that left count as doubtful.
DeviceInventory make_inventory(std::span<const DevicePool> pools,
                               const DeviceClasses &classes,
                               const std::vector<DeviceGres> &wanted,
                               const std::vector<CapacityGres> &counted = {});

// An inventory that is made when it is asked for first, on the thread that
// asks. Any thread may use it.
class InventorySource {
  public:
    using Pools = std::shared_ptr<const std::vector<DevicePool>>;

    InventorySource(Pools pools, DeviceClasses classes,
                    std::vector<DeviceGres> wanted,
                    std::vector<CapacityGres> counted)
        : pools_(std::move(pools)), classes_(std::move(classes)),
          wanted_(std::move(wanted)), counted_(std::move(counted))
    {
    }

    std::shared_ptr<const DeviceInventory> get() const;
    // Returns null if nobody has asked for it yet.
    std::shared_ptr<const DeviceInventory> if_made() const;

  private:
    const Pools pools_;
    const DeviceClasses classes_;
    const std::vector<DeviceGres> wanted_;
    const std::vector<CapacityGres> counted_;
    mutable std::once_flag once_;
    mutable std::atomic<bool> made_ = false;
    mutable std::shared_ptr<const DeviceInventory> inventory_;
};

// Returns the part that concerns one node, for DeviceIndex::update(). before:
// the index of the node so far. A pool without any slice left is gone, and
// devices of foreign claims count as gone.
DevicesNow devices_now(const DeviceInventory &inventory,
                       const DeviceClaims &claims, const Node &node,
                       const DeviceIndex &before);

// Returns what Slurm counts on the node without indexes. Nothing: a pool of the
// node is doubtful, so the amounts are unknown.
std::optional<GresCounts> amounts_now(const DeviceInventory &inventory,
                                      const DeviceClaims &claims,
                                      const Node &node);

// Returns a message for each device whose shares exceed its capacity, which
// must never happen.
std::vector<std::string> overused_devices(const DeviceInventory &inventory,
                                          const DeviceClaims &claims);

} // namespace bridge
