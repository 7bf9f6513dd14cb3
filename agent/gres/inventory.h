// SPDX-License-Identifier: GPL-2.0-or-later
// The devices that Slurm is to count, node by node: those of the cluster's
// pools that one of the DeviceClasses in k8s.conf (DeviceGres) takes, and those
// that kubelets count for device plugins. Pure.
#pragma once

#include "agent/claims/check.h"
#include "agent/claims/cpu_devices.h"
#include "agent/claims/pools.h"
#include "agent/gres/amounts.h"
#include "agent/gres/index.h"
#include "common/contract/device_gres.h"

#include <map>
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
    std::map<DeviceId, DevicePtr> devices;                  // those of present
    NodeCpus cpus; // devices that are Slurm's CPUs: none of present, in order
    // The pools that are incomplete, or must not be used: of what is in them
    // nobody knows.
    std::set<Pool> doubtful;
    std::set<std::string> gres;        // all that DeviceGres names but CPUs
    std::vector<DeviceGres> resources; // of DeviceGres, those of plugins
    std::vector<CapacityGres> counted; // DeviceCapacity
    std::map<std::string, NodeStock> stocks; // what that counts, by Node
    // The Nodes on which a doubtful pool may have some of that.
    std::set<std::string> doubtful_nodes;
    bool doubtful_everywhere = false;
    std::vector<std::string> complaints; // for the log, one sentence each
};

// The first class of the list whose selectors match says what a device is. Only
// devices of one node are counted, and none that is tainted (NoSchedule,
// NoExecute) or must not be chosen at all. Asks every device each selector.
DeviceInventory take_inventory(std::span<const DevicePool> pools,
                               const DeviceClasses &classes,
                               const std::vector<DeviceGres> &wanted,
                               const std::vector<CapacityGres> &counted = {});

// What of it concerns a node that has had these: for DeviceIndex::update(). A
// pool of which no slice is left is gone, too, and so are foreign devices.
DevicesNow devices_now(const DeviceInventory &inventory,
                       const DeviceClaims &claims, const Node &node,
                       const DeviceIndex &before);

// What of it Slurm counts on the node without indexes; nothing: while a pool is
// doubtful nobody knows.
std::optional<GresCounts> amounts_now(const DeviceInventory &inventory,
                                      const DeviceClaims &claims,
                                      const Node &node);

// A sentence for each device of which claims have more than there is, which
// nobody may ever do.
std::vector<std::string> overused_devices(const DeviceInventory &inventory,
                                          const DeviceClaims &claims);

} // namespace bridge
