// SPDX-License-Identifier: GPL-2.0-or-later
// Whether devices satisfy a claim, as kube-scheduler would have chosen them:
// each alone, their number, and the claim's constraints. That no other claim
// has them is the caller's business. Pure.
#pragma once

#include "agent/claims/consumed_capacity.h"
#include "agent/claims/pools.h"
#include "agent/claims/resource_claim.h"
#include "common/base/result.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace bridge {

using DeviceClasses = std::map<std::string, DeviceClass>; // by name

// A device for a request: a result of the allocation.
struct ChosenDevice {
    std::string request; // DeviceRequest::name
    DevicePtr device;
    std::string share_id; // a UUID, of a device that allows many allocations
};

// Null when the claim has none of that name.
const DeviceRequest *find_request(const ResourceClaim &claim,
                                  const std::string &name);

// Why the device is none for the request on that Node, as a clause: "its taint
// k is not tolerated". Empty: it is one. Code::rejected when that cannot be
// told, or something is not supported: then nothing of the claim may be
// allocated. budget: for all devices that are asked about together, at first
// CelSelector::max_sum. Once it is spent nothing more can be told: stop asking.
Result<std::string> why_unfit(const Device &device,
                              const DeviceRequest &request,
                              const DeviceClass &device_class, const Node &node,
                              CelBudget &budget);
// Wherever it can be used.
Result<std::string> why_unfit(const Device &device,
                              const DeviceRequest &request,
                              const DeviceClass &device_class,
                              CelBudget &budget);

// By its name, else, in the driver's own domain, by its id. Null: it has none.
const DeviceAttribute *attribute_of(const Device &device,
                                    const std::string &attribute);

// Which constraint of the claim these devices do not hold, be they all of it or
// some; empty: they hold all.
std::string why_not_held(const ResourceClaim &claim,
                         std::span<const ChosenDevice> chosen);

// Why these devices are no allocation of the claim; empty: they are.
// Code::rejected as for why_unfit(), and for a claim or class that is not
// supported; Code::not_found for a class that is not there, Code::busy for
// pools that are incomplete, which pass.
Result<std::string> why_no_allocation(const ResourceClaim &claim,
                                      const DeviceClasses &classes,
                                      std::span<const ChosenDevice> chosen,
                                      std::span<const DevicePool> pools,
                                      const Node &node, CelBudget &budget);

} // namespace bridge
