// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs without a Pod, and jobs that slurmctld loses, suspends, or brings back.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE("a job without a Pod that waits for a reason is nobody's to tell")
{
    World world;
    JobRef job = world.slurm.plant(describe(make_pod("gone")));
    world.slurm.hold(job.id);
    world.slurm.set_reason(job.id, "PartitionDown");
    world.start_agent();
    world.pass(world.conf.orphan_grace + seconds(10));

    CHECK(is_ended(world.slurm.job(job.id).job.state));
    CHECK(world.kube.count("set_unscheduled") == 0);
}

TEST_CASE("a job without a Pod is ended after OrphanGrace, not before")
{
    World world;
    world.now += std::chrono::hours(1); // the agent has no other clock
    world.slurm.plant(describe(make_pod("web")));
    world.start_agent();

    world.pass(seconds(55));
    CHECK(world.slurm.living().size() == 1);
    CHECK(world.slurm.count("cancel") == 0);

    world.pass(seconds(10));
    CHECK(world.slurm.living().empty());
}

TEST_CASE("a job whose Pod is listed late is its Pod's job")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.plant(describe(pod));
    world.start_agent();
    world.pass(seconds(30));

    world.create(pod);
    world.pass(seconds(90));

    world.check_runs_once();
    CHECK(world.slurm.jobs().size() == 1);
}

// A second completion overwrites the exit code of the first.
TEST_CASE("a list that is older than a completion does not end the job again")
{
    World world;
    world.start_agent();
    world.create("web");
    auto old_list = world.slurm.load_all();
    world.end_containers("web", 7);
    CHECK(world.only_job().completions == 1);

    world.deliver(JobsLoaded{old_list});
    world.pass(seconds(120));

    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 1);
}

TEST_CASE("a waiting Pod whose job is lost gets a new one")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    world.create("web");
    CHECK(world.node_of("web") == "");

    world.slurm.purge(2); // a crash lost it
    world.pass(seconds(5));

    CHECK(world.slurm.jobs().size() == 2);
    world.end_containers("first", 0);
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("a job that is suspended is resumed, and keeps its Pod")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");

    world.slurm.suspend(1);
    world.pass(seconds(13));

    CHECK(world.only_job().job.state == JobState::running);
    CHECK(world.slurm.count("resume_job") == 1);
    CHECK_FALSE(world.pod("web")->deleting);
    world.end_containers("web", 0);
    CHECK(world.only_job().job.state == JobState::completed);
}

TEST_CASE(
    "a job that is suspended a second time is cancelled, and its Pod ends")
{
    for (bool restarted : {false, true}) { // Slurm knows of the first time
        CAPTURE(restarted);
        World world;
        world.start_agent();
        world.create("web");
        world.run_containers("web");
        world.slurm.suspend(1);
        world.pass(seconds(13));
        if (restarted)
            world.start_agent();

        world.slurm.suspend(1);
        world.pass(seconds(13));

        CHECK(world.only_job().job.state == JobState::cancelled);
        CHECK(world.only_job().comment == "It was suspended a second time.");
        CHECK(world.slurm.count("resume_job") == 1);
        CHECK(told_to_end(*world.pod("web")));
        auto events = world.kube.events();
        CHECK(std::ranges::count_if(events, [](const auto &event) {
                  return event.second.reason == "SlurmJobSuspended";
              }) == 2);
    }
}

TEST_CASE("a suspended job whose Pod ends meanwhile ends with it")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    world.slurm.fail_always("resume_job", Code::denied);
    world.slurm.suspend(1);
    world.pass(seconds(13));

    world.end_containers("web", 0);
    world.pass(seconds(31));

    CHECK(world.slurm.living().empty());
}

TEST_CASE("while every call hangs the agent rests, and goes on when they are "
          "back")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    world.create("web"); // waits, so that states are asked for
    world.calls_hang = true;

    world.pass(seconds(400)); // settle() checks the next deadline each time

    world.calls_hang = false;
    world.end_containers("first", 0);
    world.pass(seconds(5));
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("a job that a crash of slurmctld brought back is ended again")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.start_agent();
    world.create("web");
    world.end_containers("web", 0);
    REQUIRE(world.only_job().job.state == JobState::completed);

    world.slurm.resurrect(1);
    world.pass(seconds(90));

    CHECK(world.slurm.living().empty());
}

// slurmctld was killed after it had allocated, before it saved that.
TEST_CASE("a Pod whose job is pending again lives on, and gets a new job there")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    std::string node = world.node_of("web");
    world.slurm.hold(1);
    SUBCASE("at once") {}
    SUBCASE("that has to wait")
    {
        world.slurm.hold(2);
    }

    world.slurm.unallocate(1);
    world.cut_socket();
    world.connect_socket();
    world.pass(seconds(60));

    world.slurm.release(2);
    world.pass(world.conf.resync_interval);
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK(world.slurm.job(1).comment == "JobId=2 is the job of its Pods");
    CHECK(world.slurm.job(2).job.state == JobState::running);
    CHECK(world.slurm.job(2).job.nodes == std::vector{node});
    Pod pod = *world.pod("web");
    CHECK(pod.living());
    CHECK_FALSE(told_to_end(pod));
    CHECK(pod.label(names::job_id_label) == "2");
}

TEST_CASE("a job that adopts is before all others again after hold and release")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    world.slurm.set_drained(world.node_of("web"), "somebody's");
    world.slurm.set_drained(world.node_of("web"), "somebody's");
    world.slurm.unallocate(1);
    world.cut_socket();
    world.connect_socket();
    world.pass(seconds(15));
    const Job &adopts = world.slurm.job(2).job;
    REQUIRE(adopts.state == JobState::pending);
    CHECK(adopts.priority == highest_priority);

    world.slurm.hold(2);
    world.pass(seconds(30));
    CHECK(adopts.priority == 0); // somebody's will
    CHECK(world.slurm.count("set_priority") == 0);

    world.slurm.release(2);
    world.pass(seconds(30));
    CHECK(adopts.priority == highest_priority);
    CHECK(world.slurm.count("set_priority") == 1);
}

// The second crash takes slurmctld back to before the new job of the Pod.
TEST_CASE(
    "a second crash, whenever it comes, does not make our own cancel of the "
    "first job a user's")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.create("web");
        world.run_containers("web");
        world.slurm.hold(1);
        world.slurm.hold(2);
        world.slurm.unallocate(1);
        world.cut_socket();
        world.connect_socket();
        world.step(steps);
        for (JobId lost : {2u, 3u})
            world.slurm.purge(lost);
        world.slurm.unallocate(1);
        world.cut_socket();
        world.connect_socket();
        world.pass(seconds(60));

        Pod pod = *world.pod("web");
        CHECK(pod.living());
        CHECK_FALSE(told_to_end(pod));
    }
}

// As that comes while a cancel of the first is on its way: libslurm waits for a
// slurmctld that starts.
TEST_CASE("the first job is only held until the Pod has the stamps of the new "
          "one, which another crash may lose")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    world.slurm.set_drained("kn1", "somebody's");
    world.slurm.unallocate(1);
    world.cut_socket();
    world.connect_socket();
    world.pass(seconds(30));
    const FakeSlurm::Record &first = world.slurm.job(1);
    CHECK(first.job.state == JobState::pending);
    CHECK(first.job.priority == 0);
    CHECK(first.comment == "slurmctld lost the allocation in a crash; now "
                           "JobId=2 is the job of its Pods");
    REQUIRE(world.slurm.job(2).job.state == JobState::pending);
    CHECK(world.slurm.count("set_priority") == 1); // once is enough

    SUBCASE("it does")
    {
        world.slurm.purge(2);
        world.cut_socket();
        world.connect_socket();
        world.pass(seconds(10));
    }
    SUBCASE("it does not") {}
    SUBCASE("the Pod ends before that")
    {
        world.end_containers("web", 0);
        world.pass(seconds(120));
        CHECK(world.slurm.living().empty());
        return;
    }
    world.slurm.resume_by_hand("kn1");
    world.pass(seconds(60));
    Pod pod = *world.pod("web");
    CHECK(pod.living());
    CHECK_FALSE(told_to_end(pod));
    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living().front().job.state == JobState::running);
    CHECK(binder_of(pod) == world.slurm.living().front().job.ref);
}

// Slurm gives a pending job no exit code: its comment says what became of it.
TEST_CASE("a Pod that ends while slurmctld is away, and comes back before its "
          "allocation")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    world.slurm.hold(1);

    SUBCASE("after its plugin went away")
    {
        world.slurm.unallocate(1);
        world.cut_socket();
        world.end_containers("web", 7);
    }
    SUBCASE("before, and the job's end is under way")
    {
        world.calls_hang = true;
        world.end_containers("web", 7);
        world.slurm.unallocate(1);
        world.cut_socket();
        world.settle();
        world.calls_hang = false;
        world.pass(seconds(5));
    }

    const FakeSlurm::Record &record = world.only_job();
    CHECK(record.job.state == JobState::cancelled);
    CHECK(record.comment == "slurmctld lost the allocation in a crash; the Pod "
                            "ended with exit code 7");
}

// Such as by the TTL of its Job.
TEST_CASE("a Pod that ended, and is gone before slurmctld takes that")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    int exit_code = 0;
    SUBCASE("well") {}
    SUBCASE("badly")
    {
        exit_code = 3;
    }

    world.slurm.fail_always("complete", Code::busy);
    world.end_containers("web", exit_code);
    world.delete_as_user("web");
    world.pass(seconds(5));
    world.finish_deletion("web");
    world.pass(seconds(5));
    world.slurm.heal("complete");
    world.pass(seconds(60));

    const FakeSlurm::Record &record = world.only_job();
    CHECK(record.status == exit_code << 8);
    CHECK(record.job.state ==
          (exit_code ? JobState::failed : JobState::completed));
}

TEST_CASE("a Pod whose job was allocated again elsewhere lives on")
{
    World world;
    world.nodes = {make_node("kn1"), make_node("kn2")};
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    REQUIRE(world.node_of("web") == "kn1");

    world.slurm.reallocate(1, "kn2");
    world.slurm.fail_always("submit", Code::rejected);
    world.pass(seconds(20));
    CHECK(world.slurm.dirty() == "kn1"); // where nothing covers it yet
    world.slurm.heal("submit");
    world.pass(seconds(60));

    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    Pod pod = *world.pod("web");
    CHECK(pod.living());
    CHECK_FALSE(told_to_end(pod));
    CHECK(world.slurm.job(2).job.nodes == std::vector<std::string>{"kn1"});
}

// The Pod names its first job for good: that one has to say why it is
// CANCELLED.
TEST_CASE(
    "a job that was allocated again elsewhere says that a crash took what "
    "its Pod has, also when the Pod ends before its new job starts")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.nodes = {make_node("kn1"), make_node("kn2")};
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    REQUIRE(world.node_of("web") == "kn1");
    world.slurm.hold(2);
    world.slurm.reallocate(1, "kn2");
    world.pass(seconds(20));
    REQUIRE(world.slurm.job(2).job.state == JobState::pending);

    world.end_containers("web", 137);
    world.pass(seconds(20));

    CHECK(world.slurm.living().empty());
    CHECK(world.pod("web")->label(names::job_id_label) == "1");
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK(world.slurm.job(1).comment ==
          "slurmctld lost the allocation in a crash; now JobId=2 is the job of "
          "its Pods");
}
