// SPDX-License-Identifier: GPL-2.0-or-later
// The pools that the cluster's ResourceSlices make up, and what of them can be
// used. Pure. Unlike kube-scheduler, which looks at a pool from one node, all
// slices of a pool are always looked at: a bad one makes all of it unusable.
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
    std::int64_t generation = 0; // the newest; older slices count for nothing
    // Its slices are all there. Of one that is not, which is so while a driver
    // publishes anew, nothing may be allocated; that a device is missing from
    // it says nothing.
    bool complete = false;
    // Why nothing of it may be allocated although it is complete; else empty.
    std::string objection;
    std::vector<DevicePtr> devices; // in the order of slices and lists
    CounterSets counters;

    bool usable() const { return complete && objection.empty(); }
};

// In the order in which kube-scheduler tries them: by driver and name, those
// with binding conditions last.
std::vector<DevicePool> device_pools(std::span<const ResourceSlicePtr> slices);

// Whether the device can be used on the Node. False where this version does not
// know what its slice says of that.
bool is_on(const Device &device, const Node &node);

// Of a device that must not be chosen, whatever is asked for: an attribute of
// an unknown kind, or binding conditions, which the bridge does not wait for.
// Else empty.
std::string device_objection(const Device &device);

// Slurm can count it: it is of one node, must not be kept from anybody by a
// taint (NoSchedule, NoExecute), and nothing speaks against choosing it.
bool is_countable(const Device &device);

// What is left of the pool's counters when the devices of these names, on
// whatever node, are allocated. Each counts once. Below zero: too many are.
CounterSets counters_left(const DevicePool &pool,
                          const std::set<std::string> &allocated);

// Whether the device can still have what it takes.
bool counters_suffice(const Device &device, const CounterSets &left);

} // namespace bridge
