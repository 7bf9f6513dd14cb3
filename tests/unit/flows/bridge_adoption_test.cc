// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that adopt a Pod, while jobs of a higher PriorityTier wait for its node.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

Partition partition(const std::string &name, std::uint16_t tier)
{
    Partition one;
    one.name = name;
    one.nodes = {"kn1", "kn2"};
    one.up = true;
    one.tier = tier;
    return one;
}

// A Pod that runs, of partition "own"; somebody waits in "high".
void start_running(World &world)
{
    world.conf.resync_interval = seconds(10);
    world.conf.partition = "own";
    world.nodes = {make_node("kn1"), make_node("kn2")};
    world.slurm.partitions = {partition("own", 10), partition("high", 100)};
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    NodeUse other;
    other.job = {99, Sluid{99}};
    other.pending = other.in_line = true;
    other.partitions = "high";
    world.slurm.others = {other};
}

// slurmctld starts jobs by itself, too.
void pass(World &world, int count)
{
    for (int i = 0; i < count; i++) {
        world.slurm.schedule();
        world.pass(seconds(10));
    }
}

void check_adopted(World &world)
{
    CHECK(world.pod("web")->phase == "Running");
    CHECK_FALSE(told_to_end(*world.pod("web")));
    REQUIRE(world.slurm.living().size() == 1);
    const auto record = world.slurm.living()[0];
    CHECK(record.job.state == JobState::running);
    CHECK(record.job.nodes == std::vector<std::string>{world.node_of("web")});
    CHECK(binder_of(*world.pod("web")) == record.job.ref);
}

bool was_told(const World &world, const std::string &words)
{
    return std::ranges::any_of(world.kube.events(), [&](const auto &one) {
        return one.second.note.contains(words);
    });
}

} // namespace

TEST_CASE("a job that adopts starts in the tier of those that keep it from its "
          "node, and the Pod is told")
{
    World world;
    start_running(world);
    world.slurm.purge(1);

    pass(world, 10);

    check_adopted(world);
    CHECK(world.slurm.job(2).asked.partition == "high,own");
    CHECK(world.slurm.count("set_partitions") == 1);
    CHECK(was_told(world, "job 2 may start in partition high,own"));
}

TEST_CASE("it starts in its own where nobody keeps it from its node")
{
    World world;
    start_running(world);
    world.slurm.others.clear();
    world.slurm.purge(1);

    pass(world, 10);

    check_adopted(world);
    CHECK(world.slurm.job(2).asked.partition == "own");
    CHECK(world.slurm.count("set_partitions") == 0);
}

TEST_CASE("it waits where the other partition would mean more than a name, and "
          "the Pod lives on")
{
    World world;
    start_running(world);
    world.slurm.partitions[1].billing = "CPU=2.0";
    world.slurm.purge(1);

    pass(world, 20);

    CHECK(world.slurm.job(2).job.state == JobState::pending);
    CHECK(world.slurm.count("set_partitions") == 0);
    CHECK_FALSE(told_to_end(*world.pod("web")));
    world.slurm.others.clear();
    pass(world, 3);
    check_adopted(world);
}

TEST_CASE("what slurmctld refuses is asked for again")
{
    World world;
    start_running(world);
    SUBCASE("the change")
    {
        world.slurm.fail_always("set_partitions", Code::rejected);
    }
    SUBCASE("the partitions")
    {
        world.slurm.fail_always("load_partitions", Code::busy);
    }
    SUBCASE("the jobs")
    {
        world.slurm.fail_always("load_uses", Code::busy);
    }
    world.slurm.purge(1);
    pass(world, 10);
    CHECK(world.allocation_count() == 0);

    world.slurm.heal("set_partitions");
    world.slurm.heal("load_partitions");
    world.slurm.heal("load_uses");
    pass(world, 10);

    check_adopted(world);
}

TEST_CASE("killed anywhere on that way: one job in the end, the Pod unharmed")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        World world;
        start_running(world);
        world.slurm.purge(1);
        pass(world, 3);
        world.kill_agent();
        world.start_agent();
        world.pass(seconds(6));
        world.step(steps);
        world.kill_agent();
        world.start_agent();

        pass(world, 10);

        check_adopted(world);
    }
}

TEST_CASE(
    "a node's own feature that slurmctld forgot in a crash is there again "
    "before a job asks for it")
{
    World world;
    start_running(world);
    world.slurm.partitions[1].billing = "CPU=2.0"; // so that it waits
    world.slurm.purge(1);
    pass(world, 5);
    REQUIRE(world.slurm.job(2).job.state == JobState::pending);

    world.cut_socket();
    world.slurm.purge(2);
    REQUIRE(world.slurm.set_features(world.node_of("web"), "k8s", ""));
    world.slurm.fail_next("load_nodes", Code::busy); // the jobs are told first
    world.connect_socket();
    pass(world, 5);
    world.slurm.others.clear();
    pass(world, 5);

    check_adopted(world);
    CHECK(world.slurm.count("submit") == 3); // none was refused
}

TEST_CASE("a job that adopts and is held, because slurmctld forgot its node's "
          "feature, is released when the node has that again")
{
    World world;
    start_running(world);
    world.slurm.partitions[1].billing = "CPU=2.0"; // so that it waits
    world.slurm.purge(1);
    pass(world, 5);
    const Job &adopts = world.slurm.job(2).job;
    REQUIRE(adopts.state == JobState::pending);
    REQUIRE(adopts.priority == highest_priority);
    bool by_its_user = false;

    world.cut_socket();
    REQUIRE(world.slurm.set_features(world.node_of("web"), "k8s", ""));
    SUBCASE("the jobs are listed before the nodes")
    {
        world.slurm.hold_for_constraints(2);
        world.slurm.fail_next("load_nodes", Code::busy);
    }
    SUBCASE("the nodes are synced before the jobs are listed")
    {
        world.slurm.hold_for_constraints(2);
    }
    SUBCASE("its user holds it: that is somebody's will")
    {
        world.slurm.hold(2);
        by_its_user = true;
    }
    world.connect_socket();
    world.pass(seconds(5)); // no list is due before 10 s

    CHECK(adopts.priority == (by_its_user ? 0 : highest_priority));
    CHECK((adopts.reason == "BadConstraints") == false);
    if (by_its_user)
        world.slurm.release(2);
    world.slurm.others.clear();
    pass(world, 5);
    check_adopted(world);
}

TEST_CASE("as long as its node is without that feature it stays held")
{
    World world;
    start_running(world);
    world.slurm.partitions[1].billing = "CPU=2.0";
    world.slurm.purge(1);
    pass(world, 5);
    REQUIRE(world.slurm.job(2).job.state == JobState::pending);

    world.cut_socket();
    REQUIRE(world.slurm.set_features(world.node_of("web"), "k8s", ""));
    world.slurm.hold_for_constraints(2);
    world.slurm.fail_always("load_nodes", Code::busy);
    world.connect_socket();
    world.pass(seconds(60));
    CHECK(world.slurm.job(2).job.priority == 0);
    CHECK(world.slurm.count("set_priority") == 0);

    world.slurm.heal("load_nodes");
    world.slurm.others.clear();
    pass(world, 10);
    check_adopted(world);
}
