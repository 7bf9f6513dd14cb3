// SPDX-License-Identifier: GPL-2.0-or-later
// A ResourceSlice (resource.k8s.io/v1) as a value: some devices, or some shared
// counters, of one pool of a driver. Drivers write slices. Pure.
#pragma once

#include "agent/objects/device.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

class Json;

struct ResourceSlice {
    std::string name;
    std::string uid;
    std::string driver;
    std::string pool;
    std::int64_t generation = 0;
    std::int64_t slices_in_pool = 0; // number of slices of this generation
    std::vector<std::shared_ptr<const Device>> devices;
    CounterSets shared_counters;
    // Which rule of the API the slice breaks, or empty. A pool with such a
    // slice must not be used.
    std::string unfit_reason;
};

using ResourceSlicePtr = std::shared_ptr<const ResourceSlice>;

// Reads a ResourceSlice. Attributes of unknown kinds, unknown scopes and
// unknown taint effects are kept as unknown; callers decide what that means.
ResourceSlice resource_slice_from(const Json &json);

} // namespace bridge
