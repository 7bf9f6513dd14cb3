// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/inventory.h"

#include "common/base/json.h"
#include "tests/unit/fakes/make_devices.h"
#include "tests/unit/fakes/make_nodes.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// "gpu:a100 n1/a0, …" of the Node.
std::string shown(const DevicesNow &now)
{
    std::string text;
    for (const GresDevice &one : now.present)
        text += (text.empty() ? "" : ", ") + one.gres + ":" + one.type + " " +
                one.id.pool + "/" + one.id.device;
    return text;
}

struct Bed {
    DeviceClasses classes{
        {"a100", make_class("a100", "device.attributes['d'].model == 'A'")},
        {"gpu", make_class("gpu", "device.driver == 'd'")}};
    std::vector<DeviceGres> wanted{{"a100", "gpu", "a100"},
                                   {"gpu", "gpu", "other"}};
    std::vector<CapacityGres> counted;
    std::vector<DevicePool> pools;
    DeviceClaims claims;
    Node node = make_node("n1");

    DeviceInventory inventory() const
    {
        return make_inventory(pools, classes, wanted, counted);
    }
    std::string now(const DeviceIndex &before = {}) const
    {
        return shown(devices_now(inventory(), claims, node, before));
    }
    // Of n1: "mem:40", or "unknown".
    std::string amounts() const
    {
        auto made = amounts_now(inventory(), claims, node);
        return made ? amounts_text(*made) : "unknown";
    }
    void count_memory()
    {
        counted = {{"d", "memory", "mem", *Quantity::parse("1Gi")}};
    }
};

constexpr char in_shares[] = R"("allowMultipleAllocations":true,)"
                             R"("capacity":{"memory":{"value":"40Gi"}})";

} // namespace

TEST_CASE("the first class of the list that takes a device says its type")
{
    Bed bed;
    bed.pools =
        make_pools({make_slice("n1", {"a0", "h0"}), make_slice("n2", {"a0"})});

    CHECK(bed.now() == "gpu:a100 n1/a0, gpu:other n1/h0");
    std::swap(bed.wanted[0], bed.wanted[1]);
    CHECK(bed.now() == "gpu:other n1/a0, gpu:other n1/h0");
    bed.wanted.erase(bed.wanted.begin());
    CHECK(bed.now() == "gpu:a100 n1/a0"); // the other is none of Slurm's
    bed.classes.clear();
    CHECK(bed.now() == "");
    CHECK(bed.inventory().warnings.empty()); // the class may come
}

TEST_CASE(
    "devices that are CPUs are no GRES, and are in the order of their names")
{
    Bed bed;
    bed.wanted = {{"gpu", cpu_gres, ""}};
    bed.pools = make_pools({make_slice("n1", {"c10", "c9", "c0"})});
    DeviceInventory inventory = bed.inventory();

    CHECK(bed.now() == "");
    CHECK(inventory.gres.empty());
    REQUIRE(inventory.cpus["n1"].size() == 3);
    CHECK(inventory.cpus["n1"][1]->name == "c9");
    CHECK(inventory.cpus["n1"][2]->name == "c10");
    CHECK(inventory.warnings.empty());
}

TEST_CASE("a device that is given in shares is not counted, and named")
{
    Bed bed;
    bed.pools = make_pools({make_slice(
        "n1", {"a0"}, {.device = R"("allowMultipleAllocations":true)"})});

    CHECK(bed.now() == "");
    REQUIRE(bed.inventory().warnings.size() == 1);
    CHECK(bed.inventory().warnings[0].contains("shares of a device"));
}

TEST_CASE("a capacity that is named is counted for all shares of its devices")
{
    Bed bed;
    bed.count_memory();
    bed.pools =
        make_pools({make_slice("n1", {"a0", "h1"}, {.device = in_shares}),
                    make_slice("n2", {"a0"}, {.device = in_shares})});

    CHECK(bed.amounts() == "mem:80");
    CHECK(bed.now() == ""); // they have no index
    CHECK(bed.inventory().warnings.empty());
    bed.node.name = "n3";
    CHECK(bed.amounts() == "");
    bed.node.name = "n1";
    bed.claims.foreign = {{"d", "n1", "a0"}};
    bed.claims.foreign_shares[{"d", "n1", "a0"}]["memory"] =
        *Quantity::parse("10Gi");
    CHECK(bed.amounts() == "mem:70");
}

TEST_CASE("of a node with a pool that is not complete nobody knows amounts")
{
    Bed bed;
    bed.count_memory();
    auto with = [&](const std::string &node, const SliceOptions &options) {
        bed.pools = make_pools({make_slice(node, {"a0"}, options)});
        return bed.amounts();
    };
    CHECK(with("n1", {.device = in_shares, .slices_in_pool = 2}) == "unknown");
    CHECK(with("n2", {.device = in_shares, .slices_in_pool = 2}) == "");
    CHECK(with("n2", {.device = in_shares,
                      .scope = R"("allNodes":true)",
                      .slices_in_pool = 2}) == "unknown");
}

TEST_CASE("a device of which claims have more than there is is named")
{
    Bed bed;
    bed.count_memory();
    bed.pools = make_pools({make_slice("n1", {"a0"}, {.device = in_shares})});
    auto &consumed = bed.claims.shares[{"d", "n1", "a0"}]["memory"];

    consumed = *Quantity::parse("40Gi");
    CHECK(overused_devices(bed.inventory(), bed.claims).empty());
    consumed = *Quantity::parse("41Gi");
    CHECK(overused_devices(bed.inventory(), bed.claims) ==
          std::vector<std::string>{
              "ResourceClaims use more of device d/n1/a0 than its memory"});
}

TEST_CASE("what must not be chosen, or is nobody's alone, is not counted")
{
    Bed bed;
    auto with = [&](const SliceOptions &options) {
        bed.pools = make_pools({make_slice("n1", {"a0"}, options)});
        return bed.now();
    };
    CHECK(with({}) == "gpu:a100 n1/a0");
    CHECK(with({.device = R"("taints":[{"key":"k","effect":"NoSchedule"}])"}) ==
          "");
    CHECK(with({.device = R"("taints":[{"key":"k","effect":"NoExecute"}])"}) ==
          "");
    CHECK(with({.device = R"("taints":[{"key":"k","effect":"None"}])"}) ==
          "gpu:a100 n1/a0");
    CHECK(with({.device = R"("bindingConditions":["ready"])"}) == "");
    CHECK(with({.scope = R"("allNodes":true)"}) == "");
    CHECK(with({.scope = R"("nodeName":"n2")"}) == "");
    CHECK(with({.slices_in_pool = 2}) == "");
    CHECK(bed.inventory().doubtful.size() == 1);

    bed.pools = make_pools({make_slice("n1", {"a0", "a1"})});
    bed.claims.ours = {{"d", "n1", "a0"}};
    bed.claims.foreign = {{"d", "n1", "a1"}};
    CHECK(bed.now() == "gpu:a100 n1/a0");
}

TEST_CASE("a selector that says nothing about a device counts it as none")
{
    Bed bed;
    bed.classes["a100"] = make_class("a100", "device.attributes['d'].x == 1");
    bed.pools = make_pools({make_slice("n1", {"a0", "a1"})});

    CHECK(bed.now() == "");
    CHECK(bed.inventory().warnings.size() == 1);
    CHECK(bed.inventory().warnings[0].starts_with(
        "devices such as d/n1/a0: DeviceClass a100"));

    bed.classes["a100"] = make_class("a100", "no.such()");
    CHECK(bed.now() == "gpu:other n1/a0, gpu:other n1/a1");
    CHECK(bed.inventory().warnings.size() == 1);
}

TEST_CASE("of a pool in doubt nobody knows what is gone, of one without slices "
          "all is")
{
    Bed bed;
    auto before = DeviceIndex::parse("k8sdev:1|gpu!a100@d/n1:a0:a1!x@e/q:z");
    REQUIRE(before);
    auto known = [&](const std::string &driver, const std::string &pool) {
        return devices_now(bed.inventory(), {}, bed.node, *before)
            .known_pools.contains({driver, pool});
    };
    bed.pools = make_pools({make_slice("n1", {"a0"}, {.slices_in_pool = 2})});
    CHECK_FALSE(known("d", "n1"));
    CHECK(known("e", "q"));
    bed.pools = make_pools({make_slice("n1", {"a0"})});
    CHECK(known("d", "n1"));
}

TEST_CASE("what a device plugin offers is counted by the Node's allocatable")
{
    Bed bed;
    bed.wanted.push_back({"nvidia.com/gpu", "gpu", "plain"});
    bed.node.allocatable.others["nvidia.com/gpu"] = 2;

    CHECK(bed.now() == "gpu:plain device-plugin/gpu/n0, "
                       "gpu:plain device-plugin/gpu/n1");
    bed.node.allocatable.others["nvidia.com/gpu"] = std::int64_t{1} << 40;
    CHECK(devices_now(bed.inventory(), {}, bed.node, {}).present.size() ==
          DeviceIndex::max_slots);
    bed.node.allocatable.others.clear();
    CHECK(bed.now() == "");
    CHECK(devices_now(bed.inventory(), {}, bed.node, {})
              .known_pools.contains({"nvidia.com", "device-plugin/gpu"}));
}

TEST_CASE("a class that is too expensive is complained about, and no other")
{
    Bed bed;
    const std::string list = "[1,2,3,4,5,6,7,8,9,10]";
    bed.classes["a100"] = make_class(
        "a100",
        list + ".all(a," + list + ".all(b," + list + ".all(c," + list +
            ".all(d,a+b+c+d>0)))) && device.attributes['d'].model=='A'");
    std::vector<std::string> names;
    for (int i = 0; i < 128; i++)
        names.push_back("a" + std::to_string(i));
    std::vector<ResourceSlice> slices{make_slice("n1", {"a0"})};
    for (int i = 0; i < 8; i++)
        slices.push_back(make_slice("m" + std::to_string(i), names));
    bed.pools = make_pools(std::move(slices));

    DeviceInventory inventory = bed.inventory();

    REQUIRE(!inventory.warnings.empty());
    CHECK(inventory.warnings.size() <= 2);
    CHECK(inventory.warnings.back().contains(
        "DeviceClass a100: its selectors are too expensive to evaluate for so "
        "many devices; what Slurm counts of the pools that were not compared "
        "with it stays as it is"));
    CHECK(!inventory.present.at("m0").empty()); // within the limit
    CHECK(!inventory.present.contains("n1"));
    // Nothing is known of it: what Slurm counts there stays.
    CHECK(inventory.doubtful.contains({"d", "n1"}));
    auto before = DeviceIndex::parse("k8sdev:1|gpu!a100@d/n1:a0");
    REQUIRE(before.has_value());
    DevicesNow now = devices_now(inventory, bed.claims, bed.node, *before);
    CHECK(now.known_pools.empty());

    std::swap(bed.wanted[0], bed.wanted[1]);
    inventory = bed.inventory();
    CHECK(inventory.warnings.empty());
    CHECK(inventory.present.at("m7").size() == 128);
}

TEST_CASE("one device for which a class is too expensive is left out alone")
{
    Bed bed;
    const std::string list = "[1,2,3,4,5,6,7,8,9,10]";
    std::string endless = "a+b+c+d+e+f+g>0";
    for (const char *name : {"g", "f", "e", "d", "c", "b", "a"})
        endless = list + ".all(" + name + "," + endless + ")";
    bed.classes["a100"] = make_class(
        "a100", "device.attributes['d'].uuid == 'GPU-m1-a1' && " + endless +
                    " || device.attributes['d'].model == 'A'");
    bed.pools = make_pools(
        {make_slice("m1", {"a0", "a1", "a2"}), make_slice("n1", {"a0", "a1"})});

    DeviceInventory inventory = bed.inventory();

    REQUIRE(inventory.warnings.size() == 1);
    CHECK(inventory.warnings[0].contains("devices such as d/m1/a1"));
    CHECK(inventory.present.at("m1").size() == 2);
    CHECK(inventory.present.at("n1").size() == 2);
    CHECK(inventory.doubtful.empty());
}
