// SPDX-License-Identifier: GPL-2.0-or-later
// Devices of a driver "d" for tests: a name that begins with a is of model A,
// every other of model H.
#pragma once

#include "agent/claims/pools.h"
#include "agent/claims/resource_claim.h"
#include "common/base/json.h"
#include "tests/unit/fakes/test_data.h"

#include <format>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

struct SliceOptions {
    std::string device{}; // more of each device: "\"taints\":[…]"
    std::string scope{};  // instead of that node
    int slices_in_pool = 1;
    int generation = 1;
    std::string name = "s";
};

// Of the pool that is called as the node.
inline ResourceSlice make_slice(const std::string &node,
                                const std::vector<std::string> &names,
                                const SliceOptions &options = {})
{
    std::string devices;
    for (const std::string &name : names)
        devices += std::format(
            R"({}{{"name":"{}","attributes":{{"model":{{"string":"{}"}},)"
            R"("uuid":{{"string":"GPU-{}-{}"}}}}{}{}}})",
            devices.empty() ? "" : ",", name, name.starts_with('a') ? "A" : "H",
            node, name, options.device.empty() ? "" : ",", options.device);
    return resource_slice_from(json_of(std::format(
        R"({{"metadata":{{"name":"{}-{}"}},"spec":{{"driver":"d","pool":{{)"
        R"("name":"{}","generation":{},"resourceSliceCount":{}}},{},)"
        R"("devices":[{}]}}}})",
        options.name, node, node, options.generation, options.slices_in_pool,
        options.scope.empty() ? std::format(R"("nodeName":"{}")", node)
                              : options.scope,
        devices)));
}

inline std::vector<DevicePool> make_pools(std::vector<ResourceSlice> slices)
{
    std::vector<ResourceSlicePtr> kept;
    for (ResourceSlice &slice : slices)
        kept.push_back(std::make_shared<const ResourceSlice>(std::move(slice)));
    return device_pools(kept);
}

inline DeviceClass make_class(const std::string &name, const std::string &cel)
{
    std::string text =
        std::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"selectors":)"
                    R"([{{"cel":{{"expression":"{}"}}}}]}}}})",
                    name, cel);
    return device_class_from(json_of(text), text);
}

} // namespace bridge
