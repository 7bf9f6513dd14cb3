// SPDX-License-Identifier: GPL-2.0-or-later
// What requests consume of devices that several claims share
// (allowMultipleAllocations), and whether a device has enough left. Calculates
// as kube-scheduler does (consumable_capacity.go). Pure.
#pragma once

#include "agent/claims/resource_claim.h"

#include <optional>
#include <string>

namespace bridge {

// Returns what the request consumes of a device that allows many allocations:
// all capacities of the device, also those that are 0. Returns nothing if the
// device cannot satisfy the request. For a device that does not allow many
// allocations the result is empty: its capacities must reach the requested
// amounts, and nothing is consumed.
std::optional<Capacities> consumed_capacity(const Device &device,
                                            const DeviceRequest &request);

// Adds the amounts of each name. Sums are capped at the largest quantity.
void add_capacities(Capacities &to, const Capacities &more);

// Returns the name of a capacity of the device that is too small for consumed
// and more together, or "" if all suffice. consumed: what the shares of the
// device consume so far. Names that the device does not have are ignored.
std::string short_capacity(const Device &device, const Capacities &consumed,
                           const Capacities &more = {});

} // namespace bridge
