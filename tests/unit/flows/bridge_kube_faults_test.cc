// SPDX-License-Identifier: GPL-2.0-or-later
// Bindings that fail, Pods that go, lists and watches that are not the truth.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

// Pods and Namespaces are watched apart from each other.
TEST_CASE("a Pod whose Namespace is not known yet waits for it, and runs as "
          "its user")
{
    World world;
    world.conf.allow_root = true;
    world.start_agent();
    Pod pod = make_pod("web");
    pod.key.ns = "new";

    world.create(pod);
    world.pass(seconds(3));
    CHECK(world.slurm.jobs().empty());

    Namespace ns;
    ns.name = "new";
    ns.annotations[names::namespace_user] = "root";
    world.deliver(Changed<Namespace>{ns, false});

    CHECK(world.only_job().asked.user_id == 0);
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("a binding that fails is made again")
{
    for (Code code : {Code::busy, Code::conflict, Code::not_found,
                      Code::uncertain, Code::internal, Code::denied}) {
        CAPTURE(code_name(code));
        World world;
        world.start_agent();
        world.kube.fail_next("bind", code);
        bool denied = code == Code::denied; // it is asked twice: act/bind.h
        if (denied)
            world.kube.fail_next("bind", code);

        world.create("web");
        CHECK(world.node_of("web") == "");
        world.pass(seconds(10));

        CHECK(world.kube.count("bind") == (denied ? 3 : 2));
        CHECK(world.node_of("web") != "");
        CHECK(world.only_job().job.state == JobState::running);
    }
}

TEST_CASE(
    "a job that ends after a binding of unknown outcome fails its Pod, or "
    "ends it")
{
    World world;
    world.start_agent();
    bool bound = false;
    SUBCASE("the Pod was not bound")
    {
        world.kube.fail_next("bind", Code::uncertain);
    }
    SUBCASE("it was bound, which the watch does not show")
    {
        world.kube.lose_reply("bind");
        bound = true;
    }
    world.kube.put(make_pod("web"));
    world.watch_pods = false;
    world.settle();
    REQUIRE(world.kube.count("bind") == 1);
    world.slurm.scancel(world.only_job().job.ref.id);
    world.settle();
    world.watch_pods = true;
    world.pass(seconds(40));

    CHECK((world.kube.count("fail_pod") > 0) == !bound);
    CHECK((world.kube.count("delete_pod") > 0) == bound);
    CHECK(world.kube.count("bind") == 1);
    CHECK(world.allocation_count() == 0);
}

TEST_CASE("a busy API server is asked again when it wants to be, not before")
{
    World world;
    world.start_agent();
    world.kube.fail_next("bind", Code::busy, seconds(20));

    world.create("web");
    world.pass(seconds(19));
    CHECK(world.kube.count("bind") == 1);
    world.pass(seconds(2));

    CHECK(world.kube.count("bind") == 2);
    CHECK(world.node_of("web") != "");
}

TEST_CASE("a binding whose answer was lost is not made twice")
{
    World world;
    world.start_agent();
    world.kube.lose_reply("bind");

    world.create("web");
    world.pass(seconds(10));

    CHECK(world.node_of("web") == world.only_job().job.nodes[0]);
    CHECK(world.only_job().job.state == JobState::running);
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("a Pod that goes before it is bound gives its allocation back")
{
    World world;
    world.start_agent();
    world.kube.fail_next("bind", Code::busy);
    world.create("web");

    world.delete_as_user("web");

    CHECK(world.slurm.living().empty());
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("a Pod that vanished without a word is missed by the next list")
{
    World world;
    world.start_agent();
    world.create("web");
    world.watch_pods = false;
    world.kube.erase({"default", "web"});

    world.send_lists();
    world.settle();

    CHECK(world.only_job().job.state == JobState::cancelled);
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("a list that is older than our binding does not undo it")
{
    World world;
    world.start_agent();
    world.watch_pods = false;
    Pod waiting = world.kube.put(make_pod("web"));
    world.deliver(Changed<Pod>{waiting, false});
    REQUIRE(world.kube.count("bind") == 1);

    world.deliver(Listed<Pod>{"slurm", {waiting}});
    world.pass(seconds(10));

    CHECK(world.kube.count("bind") == 1);
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("Pods that could not be ended are ended later")
{
    World world;
    world.start_agent();
    world.create("web");
    world.kube.fail_next("delete_pod", Code::busy);

    world.slurm.scancel(1);
    world.settle();
    CHECK_FALSE(world.pod("web")->deleting);
    world.pass(seconds(3));

    CHECK(world.pod("web")->deleting);
}

TEST_CASE("a Pod that changed meanwhile is failed at the second attempt")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    world.create("web");
    world.kube.fail_next("fail_pod", Code::conflict);

    world.slurm.scancel(2);
    world.pass(seconds(10));

    CHECK(world.pod("web")->phase == "Failed");
    CHECK(world.kube.count("fail_pod") == 2);
}

// Slurm frees a node as soon as a job ends there.
TEST_CASE("no Pod is bound beside containers that take the place it needs")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(make_pod("old", MilliCpu{16000}));
    world.slurm.scancel(1);
    world.settle();
    REQUIRE(world.pod("old")->deleting);

    world.create(make_pod("web", MilliCpu{16000}));
    world.pass(seconds(25));
    CHECK(world.slurm.job(2).job.state == JobState::configuring);
    CHECK(world.node_of("web") == "");

    world.finish_deletion("old");
    CHECK(world.node_of("web") == "kn1"); // without the clock moving
}

TEST_CASE("a slow stopper does not stop a whole node")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(make_pod("old", MilliCpu{8000}));
    world.slurm.scancel(1);
    world.settle();

    world.create(make_pod("web", MilliCpu{8000}));

    CHECK(world.node_of("web") == "kn1");
}

// "old" takes half of kn1 and stops slowly, its job has ended; "one" and "two"
// want half of it each.
static void two_wait_beside_a_slow_stopper(World &world)
{
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(make_pod("old", MilliCpu{8000}));
    world.slurm.scancel(1);
    world.settle();
    world.slurm.hold(2);
    world.slurm.hold(3);
    world.create(make_pod("one", MilliCpu{8000}));
    world.create(make_pod("two", MilliCpu{8000}));
}

static void allocate_both(World &world)
{
    world.watch_pods = false; // no binding is seen
    world.slurm.release(2);
    world.slurm.release(3);
    world.slurm.schedule();
    world.settle();
}

TEST_CASE("a binding that has not been watched yet takes its place")
{
    World world;
    two_wait_beside_a_slow_stopper(world);

    allocate_both(world);
    CHECK(world.node_of("one") == "kn1");
    CHECK(world.node_of("two") == "");

    world.watch_pods = true;
    world.send_lists();
    world.finish_deletion("old");
    CHECK(world.node_of("two") == "kn1");
}

TEST_CASE("a binding that failed takes no place")
{
    World world;
    two_wait_beside_a_slow_stopper(world);
    for (int asked = 0; asked < 2; asked++) // act/bind.h
        world.kube.fail_next("bind", Code::denied);

    allocate_both(world);
    world.pass(seconds(3)); // and "one" is not tried again yet

    CHECK(world.node_of("one") == "");
    CHECK(world.node_of("two") == "kn1");
}

// Fail closed: an API server that lists too little must not end a job.
TEST_CASE("a Pod that a list lacks, and that is there, keeps its job")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");

    world.deliver(Listed<Pod>{"slurm", {}});
    world.pass(seconds(30));
    CHECK(world.only_job().job.state == JobState::running);

    world.send_lists();
    world.pass(seconds(90));
    CHECK(world.only_job().job.state == JobState::running);
    world.end_containers("web", 7);
    CHECK(world.only_job().status == 7 << 8);
}
