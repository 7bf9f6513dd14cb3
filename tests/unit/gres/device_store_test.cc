// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/device_store.h"

#include "tests/unit/fakes/make_devices.h"

#include <chrono>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

struct Bed {
    DeviceStore store{{{"gpu", "gpu", "g"}}};
    Clock::time_point now = Clock::now();

    Bed()
    {
        store.replace(std::vector<ResourceSlice>{make_slice("n1", {"a0"})});
        store.replace(std::vector<DeviceClass>{
            make_class("gpu", "device.driver == 'd'")});
        CHECK(store.settle(now));
    }
    std::size_t devices()
    {
        std::size_t sum = 0;
        for (const DevicePool &pool : store.catalog()->pools)
            sum += pool.devices.size();
        return sum;
    }
};

} // namespace

TEST_CASE("slices that change often are looked at once a second")
{
    Bed bed;
    auto first = bed.store.catalog();
    CHECK(bed.devices() == 1);
    CHECK(!bed.store.settle_due());

    for (int i = 0; i < 100; i++) {
        bed.now += std::chrono::milliseconds(9);
        bed.store.put(make_slice("n1", {"a0", "a1"}), false);
        CHECK(!bed.store.settle(bed.now));
        CHECK(bed.store.catalog() == first);
    }
    auto due = bed.store.settle_due();
    REQUIRE(due.has_value());
    CHECK(*due - bed.now == std::chrono::milliseconds(100));

    CHECK(bed.store.settle(*due));
    CHECK(bed.devices() == 2);
    CHECK(!bed.store.settle_due());
    CHECK(!bed.store.settle(*due + std::chrono::hours(1)));
}

TEST_CASE("after a while without a change, one is seen at once")
{
    Bed bed;
    bed.now += DeviceStore::pause;

    bed.store.put(make_slice("n2", {"a0"}), false);

    CHECK(bed.store.settle(bed.now));
    CHECK(bed.devices() == 2);
}

TEST_CASE("a class that changes is seen at once, with the slices of before")
{
    Bed bed;
    CHECK(bed.devices() == 1);
    bed.store.put(make_slice("n2", {"a0"}), false);

    bed.store.put(make_class("more", "true"), false);

    CHECK(bed.store.catalog()->classes.contains("more"));
    CHECK(bed.devices() == 1);
}

TEST_CASE("nothing but who asks for an inventory makes it, and only once")
{
    Bed bed;
    auto source = bed.store.inventory();
    REQUIRE(source != nullptr);
    CHECK(source->if_made() == nullptr);
    CHECK(bed.store.catalog() != nullptr);
    CHECK(source->if_made() == nullptr);

    auto made = source->get();

    CHECK(made->present.at("n1").size() == 1);
    CHECK(source->get() == made);
    CHECK(source->if_made() == made);
    CHECK(bed.store.inventory() == source);
}

TEST_CASE("CPU devices are those of the newest inventory that are there still")
{
    DeviceStore store{{{"cpu", "cpu", ""}}};
    auto now = Clock::now();
    store.replace(std::vector<ResourceSlice>{make_slice("n1", {"a0", "a1"})});
    store.replace(
        std::vector<DeviceClass>{make_class("cpu", "device.driver == 'd'")});
    CHECK(store.settle(now));
    store.set_cpu_nodes({"n1"});
    CHECK(store.catalog()->cpus.empty());

    store.take_inventory(store.inventory()->get()); // as a worker made it
    CHECK(store.catalog()->cpus.at("n1").size() == 2);

    store.put(make_slice("n1", {"a1", "a2"}), false);
    CHECK(store.settle(now + DeviceStore::pause));
    auto cpus = store.catalog()->cpus.at("n1");
    REQUIRE(cpus.size() == 1);
    CHECK(cpus[0]->name == "a1");
    CHECK(cpus[0] == store.catalog()->pools.at(0).devices.at(0));
    auto made = store.inventory()->get();
    store.put(make_class("more", "true"), false); // another is to be made
    store.take_inventory(std::move(made));
    CHECK(store.catalog()->cpus.at("n1").size() == 2);

    const auto catalog = store.catalog();
    store.take_inventory(store.inventory()->get()); // with the same devices
    CHECK(store.catalog() == catalog);
}
