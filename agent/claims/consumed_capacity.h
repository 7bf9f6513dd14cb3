// SPDX-License-Identifier: GPL-2.0-or-later
// What requests consume of devices that many claims share
// (allowMultipleAllocations), and whether a device has it left. As
// kube-scheduler reckons (consumable_capacity.go). Pure.
#pragma once

#include "agent/claims/resource_claim.h"

#include <optional>
#include <string>

namespace bridge {

// What a device that allows many allocations gives to a request, by capacity:
// all that it has, also what is 0. Nothing when the request cannot be had from
// it. Of other devices: their capacities have to reach what is asked for, and
// nothing is counted.
std::optional<Capacities> consumed_capacity(const Device &device,
                                            const DeviceRequest &request);

// Name by name; what is beyond the largest quantity stays there.
void add_capacities(Capacities &to, const Capacities &more);

// Which capacity of the device does not suffice for both, by its name; "": all
// do. consumed: by its shares so far; names that it has no capacity of count
// for nothing.
std::string short_capacity(const Device &device, const Capacities &consumed,
                           const Capacities &more = {});

} // namespace bridge
