// SPDX-License-Identifier: GPL-2.0-or-later
// Pods with extended resources that DeviceClasses offer: what their jobs ask
// for, the claim that stands for them, and its end.
#include "agent/gres/extended_claim.h"
#include "tests/unit/fakes/world.h"
#include "tests/unit/flows/claims.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <utility>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr char gpu[] = "example.com/gpu";

Pod asking(const std::string &name, std::int64_t count = 1,
           const std::string &resource = gpu)
{
    Pod pod = make_pod(name);
    pod.extended = {{"main", 0, false, {{resource, count, 0}}}};
    return pod;
}

// Two Nodes of four GPUs each.
struct Cluster : World {
    Cluster()
    {
        conf.device_gres = {{"gpu.example.com", "gpu", "g"}};
        conf.resize_delay = seconds(1);
        conf.node_interval = seconds(1);
        slurm.gres_types = {"gpu"};
        resource_slices = {make_slice("kn1"), make_slice("kn2")};
        DeviceClass offers = make_class();
        offers.extended_resource_name = gpu;
        device_classes = {offers};
        start_agent();
        pass(seconds(5)); // until the nodes have their GRES
    }

    ResourceClaim only_claim() const
    {
        auto all = kube.claims();
        REQUIRE(all.size() == 1);
        return all.front();
    }

    // Each Pod has one claim, and each claim a Pod.
    void check_claim(const std::string &name) const
    {
        auto known = pod(name);
        REQUIRE(known);
        auto all = kube.claims();
        auto its = std::ranges::count_if(all, [&](const ResourceClaim &one) {
            return is_extended_claim(one, *known);
        });
        CHECK(its == 1);
        CHECK(known->extended_claim == extended_claim_key(*known).name);
    }
};

std::size_t position(const FakeKube &kube, const std::string &what)
{
    auto calls = kube.calls();
    auto found = std::ranges::find(calls, what, &FakeKube::Call::what);
    return static_cast<std::size_t>(found - calls.begin());
}

} // namespace

TEST_CASE("an extended resource gets the devices of its job's indexes")
{
    Cluster world;
    world.create(asking("web", 2));

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:2");
    CHECK(world.node_of("web") == "kn1");
    CHECK(devices_of(world.only_claim()) == "kn1/gpu-0 kn1/gpu-1");
    CHECK(world.only_claim().is_reserved_for("uid-web"));
    world.check_claim("web");
    world.check_runs_once();
    CHECK(position(world.kube, "create_claim") <
          position(world.kube, "write_claim_status"));
    CHECK(position(world.kube, "write_claim_status") <
          position(world.kube, "set_extended_claim"));
    CHECK(position(world.kube, "set_extended_claim") <
          position(world.kube, "bind"));
}

TEST_CASE("by the name of the class, beside a claim of the Pod's own")
{
    Cluster world;
    world.kube.put_claim(claim_text("c", request_gpus(1)));
    Pod pod =
        asking("web", 1, "deviceclass.resource.kubernetes.io/gpu.example.com");
    pod.resource_claims = {{"gpu", "c", "", false, false}};
    world.create(pod);

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:2");
    auto claims = world.kube.claims();
    REQUIRE(claims.size() == 2);
    CHECK(devices_of(claims[0]) == "kn1/gpu-0");
    CHECK(devices_of(claims[1]) == "kn1/gpu-1");
    world.check_claim("web");
}

TEST_CASE("devices that one Pod gives back go to the next at once")
{
    Cluster world;
    world.create(asking("web", 4));
    world.run_containers("web");
    world.end_containers("web", 0);
    world.pass(seconds(2));
    // As kube-controller-manager does it.
    for (const ResourceClaim &claim : world.kube.claims())
        world.kube.erase_claim(claim.key);
    world.settle();
    world.create(asking("next", 4));
    world.pass(seconds(3));

    CHECK_FALSE(world.node_of("next").empty());
    CHECK(world.only_claim().devices.size() == 4);
    world.check_claim("next");
}

TEST_CASE(
    "without a DeviceClass a Pod is refused, and goes on when there is one")
{
    Cluster world;
    world.create(asking("web", 1, "example.com/late"));
    CHECK(world.said_on("web").contains(
        "the resource example.com/late is not supported"));
    CHECK(world.slurm.count("submit") == 0);

    DeviceClass late = make_class("late");
    late.extended_resource_name = "example.com/late";
    world.device_classes.push_back(late);
    world.deliver(Changed<DeviceClass>{late, false});
    world.pass(seconds(5));

    // No GRES of DeviceGres stands for that class alone, but the devices do.
    CHECK(world.node_of("web") == "kn1");
    world.check_claim("web");
}

TEST_CASE("without DeviceGres extended resources are refused, as ever")
{
    World world;
    world.start_agent();
    world.create(asking("web"));

    CHECK(world.said_on("web").contains(
        "the resource example.com/gpu is not supported"));
    CHECK(world.said_on("web").contains("DeviceGres"));
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE(
    "the agent is killed between any two writes: one claim, one allocation")
{
    for (int steps = 1; steps < 60; steps++) {
        CAPTURE(steps);
        Cluster world;
        world.kube.put(asking("web", 2));
        world.step(steps);
        world.start_agent();
        world.pass(seconds(5));

        CHECK(world.node_of("web") == "kn1");
        CHECK(world.only_claim().devices.size() == 2);
        CHECK(world.only_claim().reserved_for.size() == 1);
        CHECK(world.allocation_count() == 1);
        world.check_claim("web");
    }
}

TEST_CASE(
    "each write fails once, or loses its answer: one claim, one allocation")
{
    for (const char *write :
         {"create_claim", "write_claim_status", "set_extended_claim", "bind"})
        for (bool lose : {false, true}) {
            CAPTURE(write);
            CAPTURE(lose);
            Cluster world;
            if (lose)
                world.kube.lose_reply(write);
            else
                world.kube.fail_next(write, Code::busy);
            world.create(asking("web", 2));
            world.pass(seconds(15));

            CHECK_FALSE(world.node_of("web").empty());
            CHECK(world.only_claim().devices.size() == 2);
            CHECK(world.allocation_count() == 1);
            world.check_claim("web");
        }
}

TEST_CASE("a job that is lost before the binding takes the claim with it")
{
    Cluster world;
    world.kube.fail_next("bind", Code::busy);
    world.kube.put(asking("web"));
    world.settle();
    REQUIRE(world.only_claim().allocated);
    REQUIRE(world.node_of("web").empty());
    std::string uid = world.only_claim().uid;

    world.slurm.set_down("kn1");
    world.pass(seconds(10));

    CHECK(world.node_of("web") == "kn2");
    CHECK(devices_of(world.only_claim()) == "kn2/gpu-0");
    CHECK(world.only_claim().uid != uid);
    world.check_claim("web");
}

TEST_CASE(
    "a job that is cancelled before the binding: nothing of a claim is left")
{
    Cluster world;
    world.kube.fail_next("bind", Code::busy);
    world.kube.put(asking("web"));
    world.settle();
    REQUIRE(world.only_claim().allocated);
    world.slurm.scancel(1);
    world.pass(seconds(10));

    CHECK(world.pod("web")->phase == "Failed");
    CHECK(world.kube.claims().empty());
}

TEST_CASE("the watch is late: what was made is found by its name")
{
    Cluster world;
    world.kube.fail_next("set_extended_claim", Code::busy);
    auto tell = std::exchange(world.kube.on_claim, {});
    world.create(asking("web"));
    world.pass(seconds(3));
    world.kube.on_claim = tell;

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.kube.count("create_claim") == 2); // the second met the first
    CHECK(world.only_claim().reserved_for.size() == 1);
    world.check_claim("web");
}

TEST_CASE("a stranger's claim of that name is left alone, and named on the Pod")
{
    Cluster world;
    Pod pod = asking("web");
    world.kube.put_claim(
        claim_text(extended_claim_key(pod).name, request_gpus(1), "another"));
    world.create(pod);
    world.pass(seconds(5));

    CHECK(world.said_on("web").contains("was not made for"));
    CHECK(world.slurm.count("submit") == 0);
    world.kube.erase_claim(extended_claim_key(pod));
    world.pass(seconds(5));
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("a claim of other requests than now is removed, and made anew")
{
    Cluster world;
    Pod pod = asking("web", 2);
    Pod before = asking("web", 1);
    DeviceClasses classes = {
        {world.device_classes[0].name, world.device_classes[0]}};
    std::string body = extended_needs(before, classes, nullptr).body;
    REQUIRE(world.kube.create_claim("default", body));
    world.create(pod);
    world.pass(seconds(5));

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.kube.count("delete_claim") == 1);
    CHECK(world.only_claim().devices.size() == 2);
    world.check_claim("web");
}

TEST_CASE("a Node whose device plugins offer the resource is not for the claim")
{
    Cluster world;
    world.change_node("kn1",
                      [](Node &node) { node.allocatable.others[gpu] = 4; });
    world.create(asking("web"));
    world.pass(seconds(10));

    CHECK(world.node_of("web") == "kn2");
    CHECK(devices_of(world.only_claim()) == "kn2/gpu-0");
}

TEST_CASE("an API server without the feature gate: no claim stays, and a word")
{
    Cluster world;
    world.kube.keeps_extended = false;
    world.create(asking("web"));
    world.pass(seconds(10));

    CHECK(world.node_of("web").empty());
    CHECK(world.kube.claims().empty());
    CHECK(world.said_on("web").contains("DRAExtendedResource"));
    CHECK(world.allocation_count() == 0);
    auto made = world.kube.count("create_claim");
    world.create(asking("next"));
    world.pass(seconds(5));
    CHECK(world.kube.count("create_claim") == made); // it is not tried at once
}

TEST_CASE("a Pod that lives without its job gets one with as many devices")
{
    Cluster world;
    world.create(asking("web", 2));
    world.run_containers("web");
    world.slurm.purge(1);
    world.pass(world.conf.resync_interval + seconds(30));

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:2");
}
