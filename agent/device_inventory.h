// SPDX-License-Identifier: GPL-2.0-or-later
// The devices that Slurm is to count, node by node: those of the cluster's pools
// that one of the DeviceClasses in k8s.conf (DeviceGres) takes, and those that
// kubelets count for device plugins. Pure.
#pragma once

#include "agent/claim_check.h"
#include "agent/device_index.h"
#include "agent/device_slices.h"
#include "common/device_gres.h"

#include <map>
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
    // The pools that are incomplete, or must not be used: of what is in them nobody
    // knows.
    std::set<Pool> doubtful;
    std::set<std::string> gres; // all that DeviceGres names
    std::vector<DeviceGres> resources; // of DeviceGres, those of plugins
    std::vector<std::string> complaints; // for the log, one sentence each
};

// The devices that claims have, allocated by us or by another scheduler.
struct DeviceClaims {
    std::set<DeviceId> ours;
    std::set<DeviceId> foreign; // not Slurm's to give while they are

    bool operator==(const DeviceClaims &) const = default;
};

// The first class of the list whose selectors match says what a device is. Only
// devices of one node are counted, and none that is tainted (NoSchedule,
// NoExecute) or must not be chosen at all. Asks every device each selector.
DeviceInventory take_inventory(std::span<const DevicePool> pools,
                               const DeviceClasses &classes,
                               const std::vector<DeviceGres> &wanted);

// What of it concerns a node that has had these: for DeviceIndex::update(). A
// pool of which no slice is left is gone, too, and so are foreign devices.
DevicesNow devices_now(const DeviceInventory &inventory,
                       const DeviceClaims &claims, const Node &node,
                       const DeviceIndex &before);

} // namespace bridge
