// SPDX-License-Identifier: GPL-2.0-or-later
// Pods with resources of device plugins: what their jobs ask for, where they
// go, and what else counts there.
#include "tests/unit/fakes/world.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr char gpu[] = "nvidia.com/gpu";

Pod asking(Pod pod, std::int64_t count)
{
    pod.extended = {{"main", 0, false, {{gpu, count, 0}}}};
    pod.requests.others[gpu] = count;
    return pod;
}

Pod asking(const std::string &name, std::int64_t count)
{
    return asking(make_pod(name), count);
}

// kn1 has four of them, kn2 none.
struct Cluster : World {
    explicit Cluster(bool start = true)
    {
        conf.device_gres = {{gpu, "gpu", "a100"}};
        conf.resize_delay = seconds(1);
        conf.node_interval = seconds(1);
        slurm.gres_types = {"gpu"};
        device_classes = {make_class()}; // which offers no resource
        nodes[0].allocatable.others[gpu] = 4;
        if (start)
            begin();
    }
    void begin()
    {
        start_agent();
        pass(seconds(5)); // until the nodes have their GRES
    }
    void check_no_claims()
    {
        CHECK(kube.claims().empty());
        CHECK(kube.count("create_claim") == 0);
        CHECK(kube.count("set_extended_claim") == 0);
    }
};

} // namespace

TEST_CASE("a Pod with a device plugin's resource gets GRES, and no claim")
{
    Cluster world;
    CHECK(world.slurm.node("kn1").gres == "gpu:a100:4");
    world.create(asking("web", 2));

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:a100:2");
    CHECK(world.node_of("web") == "kn1");
    world.check_runs_once();
    world.check_no_claims();
}

TEST_CASE("it needs no right to make claims")
{
    Cluster world;
    world.kube.keeps_extended = false;
    world.create(asking("web", 1));
    CHECK(world.node_of("web") == "kn1");
    world.check_no_claims();
}

TEST_CASE(
    "no Node whose device plugins offer it: a Pod says so, and goes on when "
    "there is one")
{
    Cluster world(false);
    world.nodes[0].allocatable.others.clear();
    world.begin();
    world.create(asking("web", 2));

    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.said_on("web").contains("status.allocatable/nvidia.com/gpu"));
    world.change_node("kn2",
                      [](Node &node) { node.allocatable.others[gpu] = 2; });
    world.pass(seconds(20));
    CHECK(world.node_of("web") == "kn2");
}

TEST_CASE("more than the node counts waits, and goes on when a Pod has ended")
{
    Cluster world;
    world.create(asking("one", 2));
    world.create(asking("two", 2));
    world.create(asking("three", 2));

    CHECK(world.node_of("one") == "kn1");
    CHECK(world.node_of("two") == "kn1");
    CHECK(world.node_of("three").empty());
    world.run_containers("one");
    world.end_containers("one", 0);
    world.pass(seconds(3));
    CHECK(world.node_of("three") == "kn1");
}

TEST_CASE(
    "what DeviceGres does not name is refused, unless a DeviceClass offers it")
{
    Cluster world;
    Pod other = make_pod("other");
    other.extended = {{"main", 0, false, {{"example.com/nic", 1, 0}}}};
    other.requests.others["example.com/nic"] = 1;
    world.create(other);

    CHECK(world.said_on("other").contains(
        "the resource example.com/nic is not supported"));
    CHECK(world.said_on("other").contains("DeviceGres"));
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE(
    "a node with a slurmd gives no device of a plugin, and the Pod says why")
{
    Cluster world(false);
    world.nodes[0].allocatable.others.clear();
    world.nodes.push_back(make_node("h1"));
    world.nodes.back().allocatable.others[gpu] = 4;
    world.slurm.add_real_node("h1");
    world.begin();
    world.create(asking("web", 1));

    CHECK(world.node_of("web").empty());
    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.said_on("web").contains("Node h1 offers it, but has a slurmd"));
    world.change_node("kn1",
                      [](Node &node) { node.allocatable.others[gpu] = 4; });
    world.pass(seconds(20));
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("a gang has as many for each task as the Pod that needs most")
{
    Cluster world;
    world.kube.put(asking(make_member("t-0", "2"), 1));
    world.create(asking(make_member("t-1", "2"), 2));

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:a100:2");
    CHECK(world.node_of("t-0") == "kn1");
    CHECK(world.node_of("t-1") == "kn1");
    world.check_no_claims();
}

TEST_CASE("a Pod whose job is lost is adopted with as many")
{
    Cluster world;
    world.create(asking("web", 3));
    world.run_containers("web");
    world.slurm.purge(world.only_job().job.ref.id);
    world.kill_agent();
    world.start_agent();
    world.pass(seconds(15));

    REQUIRE(world.allocation_count() == 1);
    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:a100:3");
    CHECK(world.pod("web")->phase == "Running");
}

TEST_CASE("a Pod is adopted with no more than its node still has in Slurm")
{
    Cluster world;
    world.create(asking("web", 3));
    world.run_containers("web");
    world.cut_socket();
    world.slurm.purge(world.only_job().job.ref.id);
    world.slurm.sbatch(1); // it keeps kn1 from being recreated
    world.slurm.schedule();
    std::string asked;
    SUBCASE("none")
    {
        world.slurm.lose_gres("kn1");
    }
    SUBCASE("two")
    {
        world.slurm.lose_gres("kn1", "gpu:a100:2");
        asked = "gres/gpu:a100:2";
    }
    world.connect_socket();
    world.pass(seconds(15));

    REQUIRE(world.slurm.living().size() == 2);
    CHECK(world.slurm.living().back().asked.gres_per_task == asked);
    CHECK(world.slurm.living().back().job.state == JobState::running);
    CHECK(world.pod("web")->phase == "Running");
}

TEST_CASE("a container that still stops keeps its devices, whatever Slurm says")
{
    Cluster world;
    world.create(asking("stopper", 3));
    world.run_containers("stopper");
    world.slurm.scancel(world.only_job().job.ref.id);
    world.settle();
    world.create(asking("next", 2));
    world.pass(seconds(5));
    CHECK(world.node_of("next").empty());

    world.create(asking("small", 1)); // which fits beside it
    world.pass(seconds(5));
    CHECK(world.node_of("small") == "kn1");
    world.end_containers("stopper", 143);
    world.pass(seconds(5));
    CHECK(world.node_of("next") == "kn1");
}

TEST_CASE(
    "what a Pod of another scheduler has is taken off, by a shadow while the "
    "node is in use")
{
    Cluster world;
    world.create(asking("web", 1));
    world.run_containers("web");
    ForeignPod other{"other", "kn1", {}};
    other.asks.devices[gpu] = 2;
    world.deliver(Changed<ForeignPod>{other, false});
    world.pass(seconds(5));
    CHECK(world.slurm.node("kn1").gres == "gpu:a100:4");
    world.create(asking("next", 2));
    world.pass(seconds(5));
    CHECK(world.node_of("next").empty());
    world.create(asking("small", 1));
    world.pass(seconds(3));
    CHECK(world.node_of("small") == "kn1"); // whatever index it has

    world.deliver(Changed<ForeignPod>{other, true});
    world.pass(seconds(5));
    CHECK(world.node_of("next") == "kn1");
}

TEST_CASE("an idle node is made anew with what others have left")
{
    Cluster world;
    ForeignPod other{"other", "kn1", {}};
    other.asks.devices[gpu] = 1;
    world.deliver(Changed<ForeignPod>{other, false});
    world.pass(seconds(10));
    CHECK(world.slurm.node("kn1").gres == "gpu:a100:3");
    world.deliver(Changed<ForeignPod>{other, true});
    world.pass(seconds(10));
    CHECK(world.slurm.node("kn1").gres == "gpu:a100:4");
}

TEST_CASE("the agent is killed at any step: the Pod is bound once")
{
    for (int steps = 1; steps < 40; steps++) {
        CAPTURE(steps);
        Cluster world;
        world.kube.put(asking("web", 2));
        world.step(steps);
        world.kill_agent();
        world.start_agent();
        world.pass(seconds(8));

        CHECK(world.node_of("web") == "kn1");
        CHECK(world.allocation_count() == 1);
        world.check_no_claims();
    }
}
