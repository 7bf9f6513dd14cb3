// SPDX-License-Identifier: GPL-2.0-or-later
// A ResourceSlice (resource.k8s.io/v1): some devices, or some shared counters,
// of one pool of a driver. Drivers write it.
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
    std::int64_t slices_in_pool = 0; // of this generation
    std::vector<std::shared_ptr<const Device>> devices;
    CounterSets shared_counters;
    // What is not as the API promises; its pool must not be used. Else empty.
    std::string objection;
};

using ResourceSlicePtr = std::shared_ptr<const ResourceSlice>;

// Of a ResourceSlice. Attributes of unknown kinds, unknown scopes and unknown
// taint effects are kept as such: what they mean is for who uses them.
ResourceSlice resource_slice_from(const Json &json);

} // namespace bridge
