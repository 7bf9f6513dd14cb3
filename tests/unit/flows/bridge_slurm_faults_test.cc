// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld is away, refuses, or its answers get lost.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE("a submit whose answer was lost left a job, which is found")
{
    World world;
    world.start_agent();
    world.slurm.lose_reply("submit");

    world.create("web");
    world.pass(seconds(5));

    CHECK(world.slurm.jobs().size() == 1);
    world.check_runs_once();
}

TEST_CASE("a submit that got lost itself is made again")
{
    World world;
    world.start_agent();
    world.slurm.fail_next("submit", Code::uncertain);

    world.create("web");
    world.pass(seconds(5));

    CHECK(world.slurm.jobs().size() == 1);
    world.check_runs_once();
}

TEST_CASE("after a lost answer nothing is submitted until the list has come")
{
    World world;
    world.start_agent();
    world.slurm.lose_reply("submit");
    for (int i = 0; i < 4; i++)
        world.slurm.fail_next("load_all", Code::busy);

    world.create("web");
    CHECK(world.slurm.count("submit") == 1);
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().size() == 1);
    world.check_runs_once();
}

TEST_CASE("a Pod that goes while its submit is uncertain leaves no job")
{
    World world;
    world.start_agent();
    world.slurm.lose_reply("submit");
    world.slurm.fail_next("load_all", Code::busy);
    world.create("web");

    world.delete_as_user("web");
    world.pass(seconds(120));

    CHECK(world.slurm.living().empty());
}

TEST_CASE("of two jobs of one gang the older stays, the other is ended")
{
    World world;
    Pod pod = world.kube.put(make_pod("web"));
    world.slurm.plant(describe(pod));
    world.slurm.plant(describe(pod));

    world.start_agent();
    world.pass(seconds(5));

    world.check_runs_once();
    CHECK(world.slurm.living()[0].job.ref.id == 1);
    CHECK(world.slurm.job(2).job.state == JobState::cancelled);
}

TEST_CASE("of two jobs of one gang the one that bound the Pod stays")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.add_node("kn1");
    JobRef older = world.slurm.plant(describe(pod));
    world.slurm.schedule();
    JobRef younger = world.slurm.plant(describe(pod));
    world.slurm.schedule();
    pod.phase = "Running";
    world.kube.put(with_binding(pod, world.slurm.job(younger.id).job, "kn1"));

    world.start_agent();
    world.pass(seconds(5));

    CHECK(is_allocated(world.slurm.job(younger.id).job.state));
    CHECK(world.slurm.job(older.id).job.state == JobState::cancelled);
    CHECK_FALSE(world.pod("web")->deleting);
}

TEST_CASE("which of two jobs bound the Pod is known before either is ended, "
          "however late the Pods are listed")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.add_node("kn1");
    world.slurm.plant(describe(pod));
    JobRef younger = world.slurm.plant(describe(pod));
    world.slurm.schedule();
    pod.phase = "Running";
    world.kube.put(with_binding(pod, world.slurm.job(younger.id).job, "kn1"));

    world.start_agent_unlisted();
    world.pass(seconds(10));
    CHECK(world.slurm.count("cancel") == 0);
    world.send_lists();
    world.pass(seconds(5));

    CHECK(is_allocated(world.slurm.job(younger.id).job.state));
    CHECK(world.slurm.living().size() == 1);
}

TEST_CASE("a job that Slurm refuses is said on the Pod, and tried again later")
{
    World world;
    world.start_agent();
    world.slurm.fail_always("submit", Code::rejected);

    world.create("web");
    CHECK(world.slurm.count("submit") == 1);
    CHECK(world.said_on("web").find("as the test wants") != std::string::npos);

    world.pass(seconds(600));
    CHECK(world.slurm.count("submit") < 12); // with growing pauses
    CHECK(world.kube.count("set_unscheduled") == 1);

    world.slurm.heal("submit");
    world.pass(seconds(301));
    world.check_runs_once();
}

TEST_CASE("a Pod of nobody's is told whom to ask")
{
    World world;
    world.conf.default_user = "";
    world.start_agent();

    world.create("web");

    CHECK(world.slurm.jobs().empty());
    CHECK(world.said_on("web").find("slurmk8s/user") != std::string::npos);
}

TEST_CASE("while slurmctld is away Pods wait, with pauses that grow")
{
    World world;
    world.start_agent();
    world.slurm.answers = false;
    world.slurm.forget_calls();

    world.create("web");
    world.pass(seconds(120));
    CHECK(world.slurm.count("submit") < 15);
    CHECK(world.pod("web")->phase == "Pending");

    world.slurm.answers = true;
    world.pass(seconds(31));
    world.check_runs_once();
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("slurmctld away when the agent starts, and when a Pod ends")
{
    World world;
    world.slurm.answers = false;
    world.start_agent();
    world.create("web");
    world.pass(seconds(20));
    CHECK(world.status().find("\"serving\":false") != std::string::npos);

    world.slurm.answers = true;
    world.pass(seconds(31));
    world.check_runs_once();

    world.slurm.answers = false;
    world.end_containers("web", 7);
    world.pass(seconds(100));
    world.slurm.answers = true;
    world.pass(seconds(31));
    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 1);
}

TEST_CASE("a completion whose answer was lost is not repeated")
{
    World world;
    world.start_agent();
    world.create("web");
    world.slurm.lose_reply("complete");

    world.end_containers("web", 7);
    world.pass(seconds(10));

    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 1); // a second one would overwrite
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("what slurmctld keeps refusing is asked with growing pauses")
{
    for (const char *call : {"complete", "cancel"}) {
        CAPTURE(call);
        World world;
        world.start_agent();
        world.create("web");
        world.slurm.fail_always(call, Code::denied);
        world.slurm.forget_calls();

        if (std::string(call) == "complete") {
            world.end_containers("web", 0);
        } else {
            world.delete_as_user("web");
            world.finish_deletion("web");
        }
        world.pass(seconds(120));

        CHECK(world.slurm.count(call) >= 2);
        CHECK(world.slurm.count(call) < 15);
        CHECK(world.slurm.calls() < 40);
        world.slurm.heal(call);
        world.pass(seconds(31));
        CHECK(world.slurm.living().empty());
    }
}
