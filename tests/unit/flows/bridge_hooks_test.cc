// SPDX-License-Identifier: GPL-2.0-or-later
// Hooks that are lost, late, doubled, or of jobs that nobody knows.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE("with the socket cut, the state poll still binds, once")
{
    World world;
    world.start_agent();
    world.cut_socket();
    world.create("web");
    world.slurm.schedule(); // by itself: nobody kicks
    CHECK(world.node_of("web") == "");

    world.pass(seconds(5));
    CHECK(world.node_of("web") != "");
    CHECK(world.only_job().job.state == JobState::configuring);

    world.connect_socket();
    world.settle();

    world.check_runs_once();
}

TEST_CASE("a socket that is cut while a Pod runs loses nothing")
{
    World world;
    world.start_agent();
    world.create("web");
    world.cut_socket();
    world.end_containers("web", 0);
    CHECK(world.only_job().job.state == JobState::completed);
    CHECK(world.only_job().epilog_held);

    world.connect_socket();
    world.settle();

    CHECK_FALSE(world.only_job().epilog_held);
    CHECK(world.only_job().completions == 1);
}

TEST_CASE("an scancel that nobody told of is found at the next resync")
{
    World world;
    world.conf.resync_interval = seconds(60);
    world.start_agent();
    world.create("web");
    world.cut_socket();

    world.slurm.scancel(world.only_job().job.ref.id);
    world.pass(seconds(65));

    CHECK(world.pod("web")->deleting);
}

TEST_CASE("hooks that come twice do nothing more")
{
    World world;
    world.start_agent();
    world.create("web");

    for (int i = 0; i < 3; i++) {
        world.cut_socket();
        world.settle();
        world.connect_socket();
        world.settle();
    }

    world.check_runs_once();
    CHECK(world.slurm.starts == 1);
    world.slurm.scancel(world.only_job().job.ref.id);
    world.settle();
    for (int i = 0; i < 3; i++) {
        world.cut_socket();
        world.settle();
        world.connect_socket();
        world.settle();
    }
    CHECK(world.only_job().epilog_held); // the Pod still lives
    CHECK(world.kube.count("delete_pod") == 1);
    world.finish_deletion("web");
    CHECK_FALSE(world.only_job().epilog_held);
    CHECK(world.slurm.cleans == 1);
}

TEST_CASE("an epilog that nobody knows is let go once no container can be "
          "alive")
{
    World world;
    world.slurm.add_node("kn1");
    world.slurm.plant(describe(make_pod("web")));
    world.slurm.schedule();
    world.slurm.scancel(1);

    world.start_agent();

    CHECK_FALSE(world.slurm.job(1).epilog_held);
}

TEST_CASE("before the lists are complete no epilog is let go")
{
    World world;
    world.slurm.add_node("kn1");
    Pod pod = make_pod("web");
    world.slurm.plant(describe(pod));
    world.slurm.schedule();
    pod.phase = "Running";
    world.kube.put(with_binding(pod, world.slurm.job(1).job, "kn1"));
    world.slurm.scancel(1);

    world.start_agent_unlisted();
    world.pass(seconds(20));
    CHECK(world.slurm.job(1).epilog_held); // the API server is slow

    world.send_lists();
    world.pass(seconds(20));
    CHECK(world.slurm.job(1).epilog_held); // the Pod is being ended
    CHECK(world.pod("web")->deleting);

    world.finish_deletion("web");
    CHECK_FALSE(world.slurm.job(1).epilog_held);
}

TEST_CASE("the epilog of a job that is purged waits for its Pod all the same")
{
    World world;
    world.slurm.add_node("kn1");
    Pod pod = make_pod("web");
    world.slurm.plant(describe(pod));
    world.slurm.schedule();
    const Job job = world.slurm.job(1).job;
    pod.phase = "Running";
    world.kube.put(with_deletion(with_binding(pod, job, "kn1")));
    world.slurm.purge(1);
    world.start_agent();

    world.deliver(HookReceived{
        {.type = HookMessage::Type::ended, .job = job.ref, .nodes = "kn1"}});
    world.pass(seconds(10));
    CHECK(world.slurm.cleans == 0);

    world.finish_deletion("web");
    world.pass(seconds(3));
    CHECK(world.slurm.cleans == 1);
}

TEST_CASE("a reused JobId does not touch the Pod of its first job")
{
    World world;
    world.start_agent();
    world.create("web");
    JobRef stranger{1, Sluid{999999}};

    world.deliver(HookReceived{{.type = HookMessage::Type::allocated,
                                .job = stranger,
                                .nodes = "kn1",
                                .ours = true}});
    world.deliver(HookReceived{
        {.type = HookMessage::Type::ended, .job = stranger, .nodes = "kn1"}});
    world.pass(seconds(10));

    CHECK_FALSE(world.pod("web")->deleting);
    CHECK(world.only_job().job.state == JobState::running);
    CHECK(world.slurm.cleans == 1); // the stranger's
}

TEST_CASE("the slurmctld of another cluster on our socket is a problem")
{
    World world;
    world.start_agent();

    world.deliver(HookReceived{{.type = HookMessage::Type::hello,
                                .version = hook_protocol_version,
                                .cluster = "other",
                                .host = "h"}});

    CHECK(world.status().find("another cluster") != std::string::npos);
}
