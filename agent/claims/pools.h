// SPDX-License-Identifier: GPL-2.0-or-later
// The device pools that the ResourceSlices of the cluster form, and which of
// their devices can be used. Pure. kube-scheduler looks at a pool from one
// node; this code always looks at all slices of a pool, so that one bad slice
// makes the whole pool unusable.
#pragma once

#include "agent/claims/resource_slice.h"

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bridge {

struct Node;

using DevicePtr = std::shared_ptr<const Device>;

struct DevicePool {
    std::string driver;
    std::string name;
    // The newest generation; slices of older ones are ignored.
    std::int64_t generation = 0;
    // All its slices exist. A pool is incomplete while its driver publishes it
    // again: nothing of it may be allocated then, and a device that is missing
    // from it may still exist.
    bool complete = false;
    // Why nothing of it may be allocated although it is complete, or empty.
    std::string unfit_reason;
    std::vector<DevicePtr> devices; // in the order of slices and their lists
    CounterSets counters;

    bool usable() const { return complete && unfit_reason.empty(); }
};

// Returns the pools in the order in which kube-scheduler tries them: by driver
// and name, with pools that have binding conditions last.
std::vector<DevicePool> device_pools(std::span<const ResourceSlicePtr> slices);

// Returns the device, or null if no pool has it. The second one leaves pools
// out that are not usable().
DevicePtr find_device(std::span<const DevicePool> pools, const DeviceId &id);
DevicePtr find_usable_device(std::span<const DevicePool> pools,
                             const DeviceId &id);

// Returns true if the device can be used on the Node. Returns false if this
// version does not understand what its slice says.
bool is_on(const Device &device, const Node &node);

// Returns why the device must never be chosen, or an empty text: it has an
// attribute of an unknown kind, or binding conditions, for which the bridge
// does not wait.
std::string unsupported_device_reason(const Device &device);

// Returns true if Slurm can count the device: it can be used on exactly one
// node, has no taint NoSchedule or NoExecute, and unsupported_device_reason()
// is empty.
bool is_countable(const Device &device);

// Returns what is left of the pool's counters when the devices of these names,
// on any node, are allocated. Each device counts once. A negative counter means
// that too many are allocated.
CounterSets counters_left(const DevicePool &pool,
                          const std::set<std::string> &allocated);

// Returns true if the counters that are left suffice for the device.
bool counters_suffice(const Device &device, const CounterSets &left);

} // namespace bridge
