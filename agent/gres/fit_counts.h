// SPDX-License-Identifier: GPL-2.0-or-later
// Counts how many devices of each Node fit a request, for allocationMode All
// and firstAvailable. The result depends only on devices and classes and is
// valid as long as they do not change. Which Nodes a Pod may use is evaluated
// for each call, since Nodes change and Pods differ. Pure.
#pragma once

#include "agent/gres/catalog.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bridge {

// Of devices that can be used on one Node only. It keeps no device: it may be
// kept for longer than these.
struct FitCounts {
    struct OnNode {
        std::string node;
        std::int64_t count = 0;
    };
    // Why a device of the Node could not be checked: see with_name().
    struct Unclear {
        std::string node;
        std::string reason;
    };
    std::vector<OnNode> nodes; // only Nodes with some; most devices first
    // The first one of each such Node, in the order of the pools.
    std::vector<Unclear> unclear;
    // The budget was spent: the other members are not valid.
    bool too_much = false;
};

// Whether both come to the same on each Node, by whatever devices.
bool operator==(const FitCounts &a, const FitCounts &b);

// The name of a request of which the name does not matter. with_name() returns
// the message about such a request as one about that of this name.
inline constexpr char any_request[] = "\x01";
std::string with_name(std::string message, const std::string &name);

// Counts the devices that fit; the name of the request does not matter. Checks
// every device.
FitCounts fit_counts(const DeviceCatalog &catalog, const DeviceRequest &request,
                     CelBudget &budget);

inline constexpr char too_many_nodes[] =
    "the claims of the Pod have too many requests for so many nodes";

// Returns the largest count among the Nodes for whose names may_be() is true.
// Fails as unfit_device_reason() does if a device on one of these Nodes could
// not be checked. counts must be of this request. Evaluates no selector. Each
// Node that is looked at costs the budget some steps; Code::rejected once it is
// spent.
Result<std::int64_t>
most_fitting(const FitCounts &counts, const DeviceRequest &request,
             const std::function<bool(const std::string &)> &may_be,
             CelBudget &budget);

} // namespace bridge
