// SPDX-License-Identifier: GPL-2.0-or-later
// Devices, classes and claims for tests: a Node "kn1" or more with GPUs of two
// models, as their driver publishes them.
#pragma once

#include "agent/claims/resource_claim.h"
#include "agent/gres/catalog.h"
#include "tests/unit/fakes/test_data.h"

#include <format>
#include <map>
#include <memory>
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

// cel: of a selector, if there is to be one.
inline DeviceRequest gpu_request(const std::string &name,
                                 const std::string &cel = {})
{
    std::string more =
        cel.empty()
            ? ""
            : std::format(R"(,"selectors":[{{"cel":{{"expression":"{}"}}}}])",
                          cel);
    ResourceClaim claim = make_claim(
        claim_text("c", R"("requests":[)" + exactly(name, 1, more) + "]"));
    REQUIRE(claim.unfit_reason == "");
    return claim.requests.at(0).choices.at(0);
}

// Of Nodes of so many devices each, as make_slice() has them, all of which are
// type g of GRES gpu.
inline DeviceCatalog make_catalog(const std::map<std::string, int> &nodes)
{
    DeviceCatalog catalog;
    std::vector<ResourceSlicePtr> slices;
    for (const auto &[node, devices] : nodes) {
        slices.push_back(
            std::make_shared<const ResourceSlice>(make_slice(node, devices)));
        DevicesNow now;
        for (int i = 0; i < devices; i++)
            now.present.push_back(
                {"gpu",
                 "g",
                 {"gpu.example.com", node, "gpu-" + std::to_string(i)}});
        catalog.nodes[node].update(now, {});
    }
    catalog.pools = device_pools(slices);
    catalog.classes["gpu.example.com"] = make_class();
    catalog.gres["gpu.example.com"] = "gpu";
    return catalog;
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
