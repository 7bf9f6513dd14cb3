// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm counts of shares and partitions.
#include "agent/gres/amounts.h"

#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <format>

using namespace bridge;

namespace {

const std::vector<CapacityGres> counted = {
    {"d", "memory", "mem", *Quantity::parse("1Gi")},
    {"d", "bandwidth", "band", *Quantity::parse("1")},
    {"e", "memory", "other", *Quantity::parse("1Gi")}};

Quantity quantity(const char *text)
{
    return *Quantity::parse(text);
}

// devices: their JSON; of node n1.
DevicePool pool_of(const std::string &devices, const std::string &sets = "")
{
    auto slice = [](const std::string &name, const std::string &what,
                    int count) {
        return std::make_shared<const ResourceSlice>(
            resource_slice_from(json_of(std::format(
                R"({{"metadata":{{"name":"{}"}},"spec":{{"driver":"d","pool":)"
                R"({{"name":"p","generation":1,"resourceSliceCount":{}}},)"
                R"("nodeName":"n1",{}}}}})",
                name, count, what))));
    };
    int count = sets.empty() ? 1 : 2;
    std::vector<ResourceSlicePtr> slices = {
        slice("s", R"("devices":[)" + devices + "]", count)};
    if (!sets.empty())
        slices.push_back(
            slice("c", R"("sharedCounters":[)" + sets + "]", count));
    auto pools = device_pools(slices);
    REQUIRE(pools.at(0).usable());
    return pools.at(0);
}

std::string shared(const std::string &name, const std::string &memory,
                   const std::string &more = "")
{
    return std::format(R"({{"name":"{}","allowMultipleAllocations":true,)"
                       R"("capacity":{{"memory":{{"value":"{}"}}}}{}}})",
                       name, memory, more);
}

std::string partition(const std::string &name, const std::string &memory)
{
    return std::format(
        R"({{"name":"{}","consumesCounters":[{{"counterSet":"gpu",)"
        R"("counters":{{"memory":{{"value":"{}"}}}}}}]}})",
        name, memory);
}

constexpr char one_set[] =
    R"({"name":"gpu","counters":{"memory":{"value":"40Gi"}}})";

} // namespace

TEST_CASE("a share counts as what it consumes, rounded up, and as one at least")
{
    DevicePtr device = pool_of(shared("x", "40Gi")).devices.at(0);
    auto amounts = [&](const Capacities &consumed) {
        return amounts_text(amounts_of_share(*device, consumed, counted));
    };

    CHECK(amounts({{"memory", quantity("2Gi")}}) == "mem:2");
    CHECK(amounts({{"memory", quantity("1500Mi")}}) == "mem:2");
    CHECK(amounts({{"memory", quantity("0")}}) == "mem:1");
    CHECK(amounts({{"d/memory", quantity("3Gi")},
                   {"bandwidth", quantity("7")},
                   {"unheard-of", quantity("9")}}) == "band:7,mem:3");
    CHECK(amounts({}) == "");
    CHECK(amounts({{"bandwidth", quantity("9E")}}) ==
          "band:35184372088832"); // sums of these stay numbers
}

TEST_CASE("a partition counts as what it takes of counters")
{
    DevicePool pool = pool_of(
        partition("small", "5500Mi") + "," + partition("none", "0"), one_set);

    CHECK(amounts_text(amounts_of_partition(*pool.devices[0], counted)) ==
          "mem:6");
    CHECK(amounts_of_partition(*pool.devices[1], counted).empty());
    CHECK(has_counted_counters(pool, counted));
    CHECK_FALSE(has_counted_counters(pool, {counted[2]}));
}

TEST_CASE("shares are counted by a capacity that is named")
{
    auto reason = [](const std::string &device, const std::string &sets = "") {
        return uncounted_reason(*pool_of(device, sets).devices.at(0), counted);
    };
    CHECK(reason(shared("x", "40Gi")) == "");
    CHECK(reason(R"({"name":"x","allowMultipleAllocations":true})")
              .contains("DeviceCapacity"));
    CHECK(
        reason(shared("x", "40Gi",
                      R"(,"consumesCounters":[{"counterSet":"gpu","counters":)"
                      R"({"memory":{"value":"1Gi"}}}])"),
               one_set)
            .contains("shares of a partition"));

    auto is_counted = [](const std::string &device) {
        return has_counted_shares(*pool_of(device).devices.at(0), counted);
    };
    CHECK(is_counted(shared("x", "40Gi")));
    CHECK_FALSE(is_counted(R"({"name":"x"})"));
    CHECK_FALSE(is_counted(shared(
        "x", "40Gi", R"(,"taints":[{"key":"k","effect":"NoSchedule"}])")));
}

TEST_CASE(
    "a node has its devices' capacities and counters, less what others have")
{
    NodeStock stock;
    DevicePool shares = pool_of(shared("x", "40Gi") + "," + shared("y", "8Gi"));
    stock.shared = shares.devices;
    DevicePool parts = pool_of(
        partition("whole", "40Gi") + "," + partition("small", "10Gi"), one_set);
    stock.pools.push_back({parts.counters, parts.devices});
    DeviceClaims claims;
    auto has = [&] {
        return amounts_text(amounts_of_stock(stock, claims, counted));
    };

    CHECK(has() == "mem:88");
    claims.ours.insert({"d", "p", "small"});
    CHECK(has() == "mem:88"); // what Slurm gave
    claims.foreign.insert({"d", "p", "small"});
    CHECK(has() == "mem:78");
    claims.foreign.insert({"d", "p", "x"});
    claims.foreign_shares[{"d", "p", "x"}]["memory"] = quantity("3Gi");
    CHECK(has() == "mem:75");
    claims.foreign.insert({"d", "p", "y"}); // all of it
    CHECK(has() == "mem:67");
    claims.foreign_shares[{"d", "p", "x"}]["memory"] = quantity("50Gi");
    CHECK(has() == "mem:30");
}

TEST_CASE("what Slurm says and is told of counts")
{
    CHECK(amounts_in("gpu:a:2(S:0,1),mem:40,band:2G,mem:1K,none:3", counted) ==
          GresCounts{{"mem", 1064}, {"band", 2147483648}});
    CHECK(amounts_in("mem:40(S:0),gpu:1(IDX:0,2)", counted) ==
          GresCounts{{"mem", 40}});
    CHECK(amounts_in("mem:0,mem:x,mem:-1,mem,mem:,other:", counted).empty());
    CHECK(amounts_in("mem:99999999999P,band:1", counted) ==
          GresCounts{{"band", 1}});
    CHECK(amounts_text({{"mem", 40}, {"none", 0}, {"zed", 1}}) ==
          "mem:40,zed:1");
    CHECK(amounts_conf({{"mem", 40}, {"none", 0}, {"zed", 1}}) ==
          "count=40,name=mem+count=1,name=zed");
}
