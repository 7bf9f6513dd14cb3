// SPDX-License-Identifier: GPL-2.0-or-later
// Whether devices satisfy a claim by kube-scheduler's rules: each device alone,
// their number, and the constraints of the claim. The caller must check that no
// other claim has the devices. Pure.
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

// A device that is allocated to a request: one result of the allocation.
struct ChosenDevice {
    std::string request; // DeviceRequest::name
    DevicePtr device;
    // A UUID if the device allows many allocations, else empty.
    std::string share_id;
};

// Returns the request of that name, or null if the claim has none.
const DeviceRequest *find_request(const ResourceClaim &claim,
                                  const std::string &name);

// Returns why the device does not suit the request on that Node, as a clause
// such as "its taint k is not tolerated", or an empty text if it does.
// Code::rejected if that cannot be decided or something is not supported:
// nothing may be allocated for the claim then. budget: for all devices that are
// checked for one answer, initially CelSelector::max_sum. Once it is spent
// nothing more can be decided: the caller must stop.
Result<std::string> unfit_device_reason(const Device &device,
                                        const DeviceRequest &request,
                                        const DeviceClass &device_class,
                                        const Node &node, CelBudget &budget);
// The same without a Node.
Result<std::string> unfit_device_reason(const Device &device,
                                        const DeviceRequest &request,
                                        const DeviceClass &device_class,
                                        CelBudget &budget);

// Looks up an attribute by its qualified name; a name in the driver's own
// domain is also found without its domain. Returns null if the device does not
// have it.
const DeviceAttribute *attribute_of(const Device &device,
                                    const std::string &attribute);

// Returns why these devices violate a constraint of the claim, or an empty
// text. They may be all devices of the claim or some of them.
std::string unmet_constraint_reason(const ResourceClaim &claim,
                                    std::span<const ChosenDevice> chosen);

// Returns why these devices are not a valid allocation of the claim, or an
// empty text if they are. Code::rejected as for unfit_device_reason(), and for
// a claim or class that is not supported. Code::not_found if a class does not
// exist. Code::busy if a pool is incomplete, which is temporary.
Result<std::string> no_allocation_reason(const ResourceClaim &claim,
                                         const DeviceClasses &classes,
                                         std::span<const ChosenDevice> chosen,
                                         std::span<const DevicePool> pools,
                                         const Node &node, CelBudget &budget);

} // namespace bridge
