// SPDX-License-Identifier: GPL-2.0-or-later
// Pods with volume claims: where they go, and when they are bound.
#include "tests/unit/fakes/make_volumes.h"
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

void bind_claim(FakeKube &kube, const std::string &name,
                const std::string &volume)
{
    bind_claim(kube.volumes.claims[name], volume);
}

void add_volume(FakeKube &kube, const std::string &name,
                const std::string &node)
{
    kube.volumes.volumes[name] = make_volume(name, node);
}

// Three Nodes, a class without provisioner and one with.
void start(World &world)
{
    world.nodes.clear();
    for (const char *name : {"kn1", "kn2", "kn3"}) {
        Node node = make_node(name);
        node.labels["kubernetes.io/hostname"] = name;
        world.nodes.push_back(node);
    }
    world.kube.volumes.classes["local"] = {
        "local", no_provisioner, true, {}, false};
    world.kube.volumes.classes["made"] = {"made", "p", true, {}, false};
    world.start_agent();
}

Pod with_claim(const std::string &name, const std::string &claim)
{
    Pod pod = make_pod(name);
    pod.claims = {{claim, false}};
    return pod;
}

} // namespace

TEST_CASE("a Pod goes where its bound volume is")
{
    World world;
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    add_volume(world.kube, "v", "kn2");
    bind_claim(world.kube, "data", "v");

    world.create(with_claim("web", "data"));

    CHECK(world.node_of("web") == "kn2");
    CHECK(world.kube.count("read_volumes") == 1);
    CHECK(world.kube.count("give_volume") == 0);
}

TEST_CASE("a Pod waits for a claim that is not there, and says so")
{
    World world;
    start(world);

    world.create(with_claim("web", "data"));
    CHECK(world.said_on("web") == "The volume claim data does not exist yet.");
    CHECK(world.slurm.count("submit") == 0);
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    world.pass(seconds(5));
    CHECK(world.said_on("web").contains("finds no free volume"));
    add_volume(world.kube, "v", "kn3");
    bind_claim(world.kube, "data", "v");
    world.pass(seconds(40));

    CHECK(world.node_of("web") == "kn3");
    CHECK(world.kube.count("read_volumes") < 12); // it is asked more seldom
}

TEST_CASE("a free volume on the node that Slurm chose is given to the claim "
          "before the Pod is bound")
{
    World world;
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    add_volume(world.kube, "v", "kn3");

    world.create(with_claim("web", "data"));
    CHECK(world.slurm.job(1).job.nodes == std::vector<std::string>{"kn3"});
    CHECK(world.kube.volumes.volumes["v"].claimed_by == "default/data");
    CHECK(world.node_of("web").empty());
    world.pass(seconds(10));
    CHECK(world.node_of("web").empty());
    CHECK(world.said_on("web").contains("volumes are bound"));
    CHECK(world.kube.count("give_volume") == 1);

    bind_claim(world.kube, "data", "v");
    world.pass(seconds(10));
    CHECK(world.node_of("web") == "kn3");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a claim with a provisioner is told the node; a volume that is made "
          "elsewhere means a new job")
{
    World world;
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "made");
    world.create(with_claim("web", "data"));
    REQUIRE(is_allocated(world.slurm.job(1).job.state));
    std::string first = world.slurm.job(1).job.nodes.front();
    CHECK(world.kube.volumes.claims["data"].selected_node == first);

    std::string other = first == "kn1" ? "kn2" : "kn1";
    add_volume(world.kube, "v", other);
    bind_claim(world.kube, "data", "v");
    world.pass(seconds(20));

    CHECK(world.node_of("web") == other);
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
}

TEST_CASE("a claim that is never bound: the job is given up after BindTimeout")
{
    World world;
    world.conf.bind_timeout = seconds(30);
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "made");
    world.create(with_claim("web", "data"));

    world.pass(seconds(60));

    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK(world.pod("web")->phase == "Pending");
    CHECK(world.node_of("web").empty());
}

TEST_CASE("two claims for which there is one volume: pauses between the jobs")
{
    World world;
    start(world);
    for (const char *name : {"a", "b"})
        world.kube.volumes.claims[name] = make_claim(name, "local");
    add_volume(world.kube, "v", "kn1");
    Pod pod = with_claim("web", "a");
    pod.claims.push_back({"b", false});

    world.create(pod);
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().size() < 15);
    CHECK(world.slurm.living().size() <= 1);
}

TEST_CASE("a claim that is gone while its job waits is read now and then")
{
    World world;
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    add_volume(world.kube, "v", "kn2");
    bind_claim(world.kube, "data", "v");
    world.slurm.hold(1);
    world.create(with_claim("web", "data"));
    world.kill_agent();

    world.kube.volumes.claims.erase("data");
    world.start_agent();
    world.pass(seconds(30));
    CHECK(world.kube.count("read_volumes") < 20);

    world.kube.volumes.claims["data"] = make_claim("data", "local");
    bind_claim(world.kube, "data", "v");
    world.pass(seconds(60));
    world.slurm.release(1);
    world.pass(seconds(5));
    CHECK(world.node_of("web") == "kn2");
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("the volume is taken by somebody else meanwhile: another node")
{
    World world;
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    add_volume(world.kube, "v1", "kn1");
    add_volume(world.kube, "v2", "kn2");
    world.kube.fail_next("give_volume", Code::conflict);
    world.create(with_claim("web", "data"));
    REQUIRE(is_allocated(world.slurm.job(1).job.state));
    std::string first = world.slurm.job(1).job.nodes.front();
    std::string lost = first == "kn1" ? "v1" : "v2";

    world.kube.volumes.volumes[lost].claimed_by = "other/claim";
    world.pass(seconds(20));

    std::string left = first == "kn1" ? "v2" : "v1";
    CHECK(world.kube.volumes.volumes[left].claimed_by == "default/data");
    bind_claim(world.kube, "data", left);
    world.pass(seconds(20));
    CHECK(world.node_of("web") == (first == "kn1" ? "kn2" : "kn1"));
}

TEST_CASE("killed anywhere: the volume is given once, the Pod bound once")
{
    for (int steps = 0; steps < 40; steps++) {
        CAPTURE(steps);
        World world;
        start(world);
        world.kube.volumes.claims["data"] = make_claim("data", "local");
        add_volume(world.kube, "v", "kn3");
        world.kube.put(with_claim("web", "data"));
        world.step(steps);

        world.start_agent();
        world.pass(seconds(15));
        if (world.kube.volumes.volumes["v"].claimed_by.empty())
            continue; // the job is looked for
        bind_claim(world.kube, "data", "v");
        world.pass(seconds(15));

        CHECK(world.node_of("web") == "kn3");
        CHECK(world.kube.count("give_volume") == 1);
        CHECK(world.kube.count("bind") == 1);
        CHECK(world.allocation_count() == 1);
    }
}

TEST_CASE("an agent that may not read claims says so")
{
    World world;
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    world.kube.fail_next("read_volumes", Code::denied);

    world.create(with_claim("web", "data"));

    CHECK(world.said_on("web").contains("claims cannot be handled"));
    CHECK(world.slurm.count("submit") == 0);
}

namespace {

Pod member_with_claim(const std::string &name, const std::string &claim,
                      const std::string &size)
{
    Pod pod = make_member(name, size, MilliCpu{4000});
    if (!claim.empty())
        pod.claims = {{claim, false}};
    return pod;
}

} // namespace

TEST_CASE("a gang goes where the volumes of all its Pods can be reached")
{
    World world;
    start(world);
    for (const char *name : {"a", "b"}) {
        world.kube.volumes.claims[name] = make_claim(name, "local");
        add_volume(world.kube, std::string("v") + name, "kn2");
        bind_claim(world.kube, name, std::string("v") + name);
    }

    world.create(member_with_claim("t-0", "a", "3"));
    world.create(member_with_claim("t-1", "b", "3"));
    world.create(member_with_claim("t-2", "b", "3")); // they share it

    for (const char *name : {"t-0", "t-1", "t-2"})
        CHECK(world.node_of(name) == "kn2");
    CHECK(world.kube.count("read_volumes") == 1);
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a gang waits for a claim of one of its Pods, and says which")
{
    World world;
    start(world);
    world.create(member_with_claim("t-0", "", "2"));
    world.create(member_with_claim("t-1", "data", "2"));

    CHECK(world.slurm.jobs().empty());
    world.pass(seconds(2));
    CHECK(world.said_on("t-0") == "The volume claim data does not exist yet.");
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    add_volume(world.kube, "v", "kn3");
    bind_claim(world.kube, "data", "v");
    world.pass(seconds(40));

    CHECK(world.node_of("t-0") == "kn3");
    CHECK(world.node_of("t-1") == "kn3");
}

TEST_CASE("no Pod of a gang is bound before all its claims are; one that "
          "several share is told the node of the first")
{
    World world;
    start(world);
    world.kube.volumes.claims["data"] = make_claim("data", "made");
    for (const char *name : {"t-0", "t-1"}) {
        Pod pod = member_with_claim(name, "data", "2");
        pod.annotations["slurmk8s/min-nodes"] = "2";
        world.create(pod);
    }

    CHECK(world.kube.volumes.claims["data"].selected_node == "kn1");
    world.pass(seconds(5));
    CHECK(world.node_of("t-0").empty());
    CHECK(world.node_of("t-1").empty());
    CHECK(world.kube.count("select_node") == 1);

    SUBCASE("its volume can be reached from all nodes")
    {
        add_volume(world.kube, "v", "kn1");
        world.kube.volumes.volumes["v"].affinity.reset();
        bind_claim(world.kube, "data", "v");
        world.pass(seconds(10));
        CHECK(world.node_of("t-0") == "kn1");
        CHECK(world.node_of("t-1") == "kn2");
        CHECK(world.slurm.count("submit") == 1);
    }
    SUBCASE("it can be reached from one: another job, which waits")
    {
        add_volume(world.kube, "v", "kn1");
        bind_claim(world.kube, "data", "v");
        world.pass(seconds(10));
        CHECK(world.node_of("t-0").empty());
        CHECK(world.slurm.count("submit") >= 2);
    }
}

TEST_CASE("a Pod that rejoins its gang waits for its own claims, others do not")
{
    World world;
    start(world);
    for (const char *name : {"t-0", "t-1"})
        world.create(member_with_claim(name, "", "2"));
    for (const char *name : {"t-0", "t-1"})
        world.run_containers(name);
    for (const char *name : {"t-0", "t-1"}) {
        world.delete_as_user(name);
        world.finish_deletion(name);
        if (std::string(name) == "t-0")
            world.create(member_with_claim("t-2", "data", "2"));
        else
            world.create(member_with_claim("t-3", "", "2"));
    }

    CHECK(world.node_of("t-2").empty());
    CHECK_FALSE(world.node_of("t-3").empty());
    world.kube.volumes.claims["data"] = make_claim("data", "local");
    add_volume(world.kube, "v", "kn1");
    bind_claim(world.kube, "data", "v");
    world.pass(seconds(40));
    CHECK_FALSE(world.node_of("t-2").empty());
    CHECK(world.slurm.count("submit") == 1);
}
