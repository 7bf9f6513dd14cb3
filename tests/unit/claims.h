// SPDX-License-Identifier: GPL-2.0-or-later
// Devices, classes and claims for tests: a Node "kn1" or more with GPUs of two
// models, as their driver publishes them.
#pragma once

#include "agent/device_catalog.h"
#include "agent/resource_claim.h"
#include "tests/unit/test_data.h"

#include <format>
#include <string>
#include <vector>

namespace bridge {

// gpu-0 and gpu-1 of model A, gpu-2 and gpu-3 of B.
inline ResourceSlice make_slice(const std::string &node, int devices = 4)
{
    std::string list;
    for (int i = 0; i < devices; i++)
        list += std::format(
            R"({}{{"name":"gpu-{}","attributes":{{"model":{{"string":"{}"}}}}}})",
            i ? "," : "", i, i < 2 ? "A" : "B");
    return resource_slice_from(json_of(std::format(
        R"({{"metadata":{{"name":"{0}-gpu","uid":"s"}},"spec":{{)"
        R"("driver":"gpu.example.com","nodeName":"{0}","pool":{{"name":"{0}",)"
        R"("generation":1,"resourceSliceCount":1}},"devices":[{1}]}}}})",
        node, list)));
}

inline DeviceClass make_class(const std::string &name = "gpu.example.com")
{
    std::string text = std::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"selectors":[{{"cel":{{)"
        R"("expression":"device.driver == 'gpu.example.com'"}}}}]}}}})",
        name);
    return device_class_from(json_of(text), text);
}

// spec: what is in spec.devices, such as R"("requests":[…])".
inline std::string claim_text(const std::string &name, const std::string &spec,
                              const std::string &owner_uid = "",
                              const std::string &status = "{}")
{
    std::string owner =
        owner_uid.empty()
            ? ""
            : std::format(
                  R"(,"ownerReferences":[{{"apiVersion":"v1","kind":"Pod",)"
                  R"("name":"p","uid":"{}","controller":true}}])",
                  owner_uid);
    return std::format(R"({{"apiVersion":"resource.k8s.io/v1",)"
                       R"("kind":"ResourceClaim","metadata":{{"name":"{0}",)"
                       R"("namespace":"default","uid":"uid-of-{0}",)"
                       R"("resourceVersion":"1"{1}}},)"
                       R"("spec":{{"devices":{{{2}}}}},"status":{3}}})",
                       name, owner, spec, status);
}

inline std::string exactly(const std::string &name, int count,
                           const std::string &more = "")
{
    return std::format(R"({{"name":"{}","exactly":{{"deviceClassName":)"
                       R"("gpu.example.com","count":{}{}}}}})",
                       name, count, more);
}

inline std::string request_gpus(int count)
{
    return R"("requests":[)" + exactly("gpu", count) + "]";
}

inline ResourceClaim make_claim(const std::string &text)
{
    return resource_claim_from(json_of(text), text);
}

// "kn1/gpu-0 kn1/gpu-1"; "": it has none.
inline std::string devices_of(const ResourceClaim &claim)
{
    std::string text;
    for (const DeviceId &device : claim.devices)
        text += (text.empty() ? "" : " ") + device.pool + "/" + device.device;
    return text;
}

} // namespace bridge
