// SPDX-License-Identifier: GPL-2.0-or-later
// How many devices of each Node fit a request, which allocationMode All and
// firstAvailable ask for. Devices and classes alone decide that, and it lasts
// as long as they do. Nodes change and Pods differ: which Nodes a Pod may have
// is looked at each time. Pure.
#pragma once

#include "agent/gres/catalog.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bridge {

// Each device here can be used on one Node only, its scope's.
struct FitCounts {
    struct OnNode {
        DevicePtr one; // of those that fit
        std::int64_t count = 0;
    };
    std::vector<OnNode> nodes; // that have some, those with most first
    // Of which it cannot be told: the first one of each Node that has such, in
    // the order of the pools.
    std::vector<DevicePtr> unclear;
    // The budget did not suffice: all else means nothing.
    bool too_much = false;
};

// Whatever the request's name. Looks at every device.
FitCounts fit_counts(const DeviceCatalog &catalog, const DeviceRequest &request,
                     CelBudget &budget);

// How many that Node has which has most, of those for whose names may_be() is
// true; as why_unfit() when it cannot be told on one of these. The counts are
// those of this catalog and request.
Result<std::int64_t>
most_fitting(const FitCounts &counts, const DeviceCatalog &catalog,
             const DeviceRequest &request,
             const std::function<bool(const std::string &)> &may_be);

} // namespace bridge
