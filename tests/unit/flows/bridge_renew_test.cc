// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that are replaced: a misfit, a node that fails, a binding overdue.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

// A slurmd's node on which a job of ours may land and no Pod can.
void add_misfit(World &world)
{
    world.slurm.add_misfit("a-misfit");
}

// The job of the Pod "web" is cancelled, and the submit of its successor, which
// comes next, has no answer.
void replace_by_unheard(World &world)
{
    world.start_agent();
    add_misfit(world);
    world.kube.put(make_pod("web"));
    while (world.slurm.count("cancel") == 0)
        world.step(1);
    world.slurm.remove_node("a-misfit");
    world.slurm.lose_reply("submit");
}

} // namespace

TEST_CASE("a job on a node that no Node stands for is replaced, a generation "
          "on")
{
    World world;
    world.start_agent();
    add_misfit(world);

    world.create("web");
    world.slurm.remove_node("a-misfit");
    world.pass(seconds(10));

    world.check_runs_once();
    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK_FALSE(world.slurm.job(1).epilog_held);
    CHECK(world.slurm.living()[0].job.tag.generation == 1);
    CHECK(world.pod("web")->annotation(names::generation_annotation) == "1");
}

TEST_CASE("a misfit that stays is met with pauses")
{
    World world;
    world.start_agent();
    add_misfit(world);

    world.create("web");
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().size() < 35);
    CHECK(world.slurm.living().size() <= 1);
    CHECK(world.kube.count("stamp") < 35);
    CHECK(world.kube.count("fail_pod") == 0);
}

TEST_CASE("a user's scancel of a replaced job is the user's")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    add_misfit(world);
    world.create("web");
    world.slurm.remove_node("a-misfit");
    world.pass(seconds(5));
    REQUIRE(world.slurm.living().size() == 2);
    const JobRef second = world.slurm.living()[1].job.ref;
    REQUIRE(world.slurm.job(second.id).job.state == JobState::pending);

    world.slurm.scancel(second.id);
    world.pass(seconds(5));

    CHECK(world.pod("web")->phase == "Failed");
    CHECK(world.slurm.living().size() == 1);
}

TEST_CASE("the successor of a replaced job is found when its submit is "
          "uncertain")
{
    World world;
    replace_by_unheard(world);

    world.pass(seconds(10));

    CHECK(world.slurm.jobs().size() == 2);
    world.check_runs_once();
}

TEST_CASE("a list that comes while that is uncertain does not end the "
          "successor")
{
    World world;
    replace_by_unheard(world);
    for (int i = 0; i < 3; i++)
        world.slurm.fail_next("load_all", Code::busy);
    world.pass(seconds(2)); // submitted, and the search for it has failed
    REQUIRE(world.slurm.jobs().size() == 2);

    world.slurm.heal("load_all");
    auto list = world.slurm.load_all();
    while (!list)
        list = world.slurm.load_all();
    world.deliver(JobsLoaded{list});
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().size() == 2);
    world.check_runs_once();
}

TEST_CASE("of several jobs that a search finds, the living one is taken")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.plant(describe(pod));
    world.start_agent();
    world.slurm.scancel(1);
    world.slurm.lose_reply("submit");

    // The Pod comes after its first job was cancelled as an orphan's.
    world.pass(seconds(65));
    world.create(pod);
    world.pass(seconds(10));

    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.node_of("web") != "");
}

TEST_CASE("a duplicate that we ended says nothing about the Pod")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.plant(describe(pod));
    world.slurm.plant(describe(pod));
    world.slurm.scancel(2);
    world.slurm.end_job(1, JobState::preempted);
    world.kube.put(pod);

    world.start_agent();
    world.pass(seconds(10));

    CHECK(world.kube.count("fail_pod") == 0);
    CHECK(world.node_of("web") != "");
}

TEST_CASE("a job that had to give way before its Pod was bound is followed by "
          "another")
{
    for (JobState state : {JobState::preempted, JobState::node_fail}) {
        CAPTURE(state_name(state));
        World world;
        world.start_agent();
        world.kube.fail_next("bind", Code::busy);
        world.create("web");

        world.slurm.end_job(1, state);
        world.pass(seconds(10));

        CHECK(world.slurm.living().size() == 1);
        CHECK(world.node_of("web") != "");
        CHECK_FALSE(world.slurm.job(1).epilog_held);
        CHECK(world.slurm.job(1).completions == 0); // its end stays Slurm's
    }
}

TEST_CASE("an allocation onto which nothing can be bound is given back in time")
{
    World world;
    world.conf.bind_timeout = seconds(20);
    world.start_agent();
    for (int i = 0; i < 100; i++)
        world.kube.fail_next("bind", Code::busy);

    world.create("web");
    world.pass(seconds(60));

    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK(world.slurm.living().size() == 1);
    CHECK(world.pod("web")->phase == "Pending");
}
