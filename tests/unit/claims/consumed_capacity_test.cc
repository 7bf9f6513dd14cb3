// SPDX-License-Identifier: GPL-2.0-or-later
// What a single request consumes claim_check_test.cc has.
#include "agent/claims/consumed_capacity.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Quantity quantity(const char *text)
{
    return *Quantity::parse(text);
}

} // namespace

TEST_CASE("capacities are added up name by name")
{
    Capacities sum{{"memory", quantity("1Gi")}};
    add_capacities(sum,
                   {{"memory", quantity("512Mi")}, {"slots", quantity("2")}});
    add_capacities(sum, {});

    CHECK(sum.at("memory").text() == "1536Mi");
    CHECK(sum.at("slots").text() == "2");
    for (int i = 0; i < 3; i++)
        add_capacities(sum, {{"slots", quantity("9E")}});
    CHECK(sum.at("slots") > quantity("9E")); // and is cut there
}

TEST_CASE("nobody consumes less than nothing")
{
    Device device;
    device.allow_multiple_allocations = true;
    device.capacity["memory"] = {quantity("4Gi")};
    DeviceRequest request;
    request.capacity["memory"] = quantity("-4Gi");

    CHECK_FALSE(consumed_capacity(device, request).has_value());
    device.capacity["memory"].policy = CapacityPolicy{};
    CHECK_FALSE(consumed_capacity(device, request).has_value());
    request.capacity["memory"] = quantity("0");
    auto nothing = consumed_capacity(device, request);
    REQUIRE(nothing.has_value());
    CHECK(nothing->at("memory").text() == "0");
}

TEST_CASE("what a device has is compared with what is consumed of it")
{
    Device device;
    device.capacity["memory"] = {quantity("4Gi")};
    device.capacity["slots"] = {quantity("2")};
    Capacities half{{"memory", quantity("2Gi")}, {"slots", quantity("1")}};

    CHECK(short_capacity(device, {}) == "");
    CHECK(short_capacity(device, half, half) == "");
    CHECK(short_capacity(device, half, {{"memory", quantity("2049Mi")}}) ==
          "memory");
    CHECK(short_capacity(device, {{"slots", quantity("3")}}) == "slots");
    CHECK(short_capacity(device, {{"unheard-of", quantity("9")}}) == "");
}
