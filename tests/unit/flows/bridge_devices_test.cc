// SPDX-License-Identifier: GPL-2.0-or-later
// Devices from the watches to Slurm's nodes, through the whole agent.
#include "tests/unit/fakes/make_devices.h"
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

struct Devices : World {
    Devices()
    {
        conf.device_gres = {{"gpu", "gpu", "a100"}};
        conf.resize_delay = seconds(1);
        conf.node_interval = seconds(1);
        slurm.gres_types = {"gpu"};
    }

    void list_classes()
    {
        list_only_classes();
        deliver(Listed<ResourceClaim>{"", {}});
    }
    void list_only_classes()
    {
        deliver(Listed<DeviceClass>{
            "", {make_class("gpu", "device.driver == 'd'")}});
    }
    void list_slices(std::vector<ResourceSlice> slices)
    {
        deliver(Listed<ResourceSlice>{"", std::move(slices)});
    }
    void change(ResourceSlice slice, bool deleted = false)
    {
        deliver(Changed<ResourceSlice>{std::move(slice), deleted});
    }
    std::string gres() const { return slurm.node("kn1").gres; }
};

constexpr char two[] = "k8sdev:1|gpu!a100@d/kn1:g0:g1";

} // namespace

TEST_CASE("nothing is counted until slices and classes were listed once")
{
    Devices world;
    world.start_agent();
    world.list_slices({make_slice("kn1", {"g0", "g1"})});
    world.pass(seconds(5));
    CHECK(world.slurm.count("create_node") == 0);

    world.list_classes();
    world.pass(seconds(5));
    CHECK(world.slurm.count("create_node") == 2); // made once, with what it has
    CHECK(world.gres() == "gpu:a100:2");
    CHECK(world.slurm.node("kn1").extra == two);
}

TEST_CASE(
    "nothing is counted until claims were listed once: others may have it")
{
    Devices world;
    world.start_agent();
    world.list_only_classes();
    world.list_slices({make_slice("kn1", {"g0", "g1"})});
    world.pass(seconds(5));
    CHECK(world.slurm.count("create_node") == 0);

    ResourceClaim others;
    others.key = {"default", "c"};
    others.uid = "uid-of-c";
    others.allocated = true;
    others.devices = {{"d", "kn1", "g1"}};
    world.deliver(Listed<ResourceClaim>{"", {others}});
    world.pass(seconds(5));
    CHECK(world.slurm.count("create_node") == 2); // made once
    CHECK(world.gres() == "gpu:a100:1");
}

TEST_CASE("a node is made when all slices of its pool are there")
{
    Devices world;
    world.start_agent();
    world.list_classes();
    ResourceSlice first =
        make_slice("kn1", {"g0"}, {.slices_in_pool = 2, .name = "a"});
    ResourceSlice second =
        make_slice("kn1", {"g1"}, {.slices_in_pool = 2, .name = "b"});
    world.list_slices({first});
    world.pass(seconds(5));
    CHECK(world.slurm.count("create_node") == 0);

    SUBCASE("the driver writes the rest")
    {
        world.change(second);
        world.pass(seconds(5));
        CHECK(world.gres() == "gpu:a100:2"); // kn2 has none
        CHECK(world.slurm.count("create_node") == 2);
    }
    SUBCASE("the rest never comes")
    {
        world.pass(seconds(30));
        CHECK(world.gres() == "");
        CHECK(world.slurm.count("create_node") == 1); // both alike
    }
}

TEST_CASE("a cluster that never lists devices has nodes all the same")
{
    Devices world;
    world.start_agent();
    world.pass(seconds(60));

    CHECK(world.gres() == "");
}

TEST_CASE("an agent that starts takes nothing away before it knows the devices")
{
    Devices world;
    world.start_agent();
    world.list_slices({make_slice("kn1", {"g0", "g1"})});
    world.list_classes();
    world.pass(seconds(5));
    std::size_t made = world.slurm.count("create_node");

    world.start_agent();
    world.list_classes();
    world.pass(seconds(5));
    CHECK(world.gres() == "gpu:a100:2");
    world.list_slices({make_slice("kn1", {"g1", "g0"})});
    world.pass(seconds(5));
    CHECK(world.slurm.node("kn1").extra == two);
    CHECK(world.slurm.count("create_node") == made);
}

TEST_CASE("slices and classes that come and go are followed")
{
    Devices world;
    world.start_agent();
    world.list_classes();
    world.list_slices({});
    world.change(make_slice("kn1", {"g0"}));
    world.pass(seconds(5));
    CHECK(world.gres() == "gpu:a100:1");
    world.change(make_slice("kn1", {"g0", "g1"}));
    world.pass(seconds(5));
    CHECK(world.gres() == "gpu:a100:2");
    world.deliver(Changed<DeviceClass>{make_class("gpu", "false"), false});
    world.pass(seconds(5));
    CHECK(world.gres() == "");
    world.deliver(
        Changed<DeviceClass>{make_class("gpu", "device.driver == 'd'"), false});
    world.pass(seconds(5));
    CHECK(world.gres() == "gpu:a100:2");
    world.change(make_slice("kn1", {}), true);
    world.pass(seconds(5));
    CHECK(world.gres() == "");
    CHECK(world.slurm.node("kn1").extra == "");
}

TEST_CASE("without DeviceGres the GRES of a node are not ours")
{
    Devices world;
    world.conf.device_gres.clear();
    world.start_agent();
    (void)world.slurm.set_extra("kn1", two);
    world.list_classes();
    world.list_slices({make_slice("kn1", {"g0"})});
    world.pass(seconds(5));

    CHECK(world.gres() == "");
    CHECK(world.slurm.node("kn1").extra == two);
}
