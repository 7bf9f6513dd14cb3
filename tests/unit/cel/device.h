// SPDX-License-Identifier: GPL-2.0-or-later
// The device that the tests of selectors ask about; tests/cel/main.go has the
// same.
#pragma once

#include "agent/cel/cel.h"
#include "agent/objects/device.h"

#include <doctest/doctest.h>
#include <string>
#include <string_view>

namespace bridge {

inline Device gpu()
{
    Device device;
    device.driver = "gpu.example.com";
    device.name = "gpu-2";
    device.attributes = {
        {"index", std::int64_t{2}},
        {"model", std::string("A100")},
        {"productName", std::string("NVIDIA A100-SXM4-40GB")},
        {"healthy", true},
        {"driverVersion", *Semver::parse("1.10.2")},
        {"resource.kubernetes.io/numaNode", std::int64_t{0}},
        {"resource.kubernetes.io/pcieRoot", std::string("pci0000:01")},
    };
    device.capacity = {
        {"memory", {*Quantity::parse("40Gi")}},
        {"other.example.com/bandwidth", {*Quantity::parse("1G")}}};
    return device;
}

// "true", "false", "error" when evaluated, "refused" when parsed.
inline std::string verdict(std::string_view text, const Device &device = gpu())
{
    auto selector = CelSelector::parse(text);
    if (!selector) {
        CHECK(selector.error().code == Code::rejected);
        return "refused";
    }
    auto matches = selector->matches(device);
    if (!matches) {
        CHECK(matches.error().code == Code::rejected);
        return "error";
    }
    return *matches ? "true" : "false";
}

} // namespace bridge
