// SPDX-License-Identifier: GPL-2.0-or-later
// Gangs whose size an object beside the Pods says: PodGroups.
#include "tests/unit/flows/group_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr GroupApi both[] = {GroupApi::plugins, GroupApi::workload};

} // namespace

TEST_CASE("Pods wait for their PodGroup, and for as many as it says")
{
    for (GroupApi api : both) {
        CAPTURE(unsigned(api));
        GroupWorld world(api);
        world.create_pods(0, 2);
        world.pass(seconds(2));
        CHECK(world.said_on("t-0") == "PodGroup g does not exist yet.");

        world.put_group(world.group(3));
        world.pass(seconds(2));
        CHECK(world.said_on("t-0") == "2 of 3 Pods of gang g exist.");
        CHECK(world.slurm.jobs().empty());

        world.create_pods(2, 3);
        CHECK(world.bound(3) == 3);
        CHECK(world.only_job().asked.tasks == 3);
        CHECK(world.only_job().asked.tag.group == "u-1");
        CHECK(world.only_job().job.state == JobState::running);
    }
}

TEST_CASE("without the API such Pods are alone")
{
    GroupWorld world;
    world.apis_there.clear();
    world.start_agent();
    world.create_pods(0, 2);

    CHECK(world.bound(2) == 2);
    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.slurm.job(1).asked.tag.group == "");
}

TEST_CASE("more Pods than it says wait for the gang, and get jobs of their own")
{
    GroupWorld world;
    world.drain_all();
    world.put_group(world.group(3));
    world.create_pods(0, 5);
    world.pass(seconds(2));
    CHECK(world.only_job().asked.tasks == 3);

    for (const Node &node : world.nodes)
        world.slurm.resume_by_hand(node.name);
    world.pass(seconds(3));
    CHECK(world.bound(5) == 5);
    CHECK(world.slurm.jobs().size() == 3);
    CHECK(world.job_of_group().job.tasks == 3);
    CHECK(world.pod("t-4")->annotation(names::rank_annotation) == "");

    world.create_pods(5, 6);
    CHECK(world.bound(6) == 6);
    CHECK(world.slurm.jobs().size() == 4);

    // All of it is found again.
    world.start_agent();
    world.pass(seconds(5));
    CHECK(world.slurm.living().size() == 4);
    CHECK(world.kube.count("bind") == 6);
}

TEST_CASE("a late Pod that waits with a job of its own keeps it over a restart")
{
    GroupWorld world;
    world.put_group(world.group(2));
    world.create_pods(0, 2);
    world.drain_all();
    world.create_pods(2, 3);
    world.pass(seconds(2));
    CHECK(world.slurm.living().size() == 2);

    world.start_agent();
    world.pass(seconds(70));
    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.slurm.living().size() == 2);
    CHECK(world.bound(3) == 2);
}

TEST_CASE(
    "the largest of the first Pods is what a task has, of the others none")
{
    GroupWorld world;
    world.put_group(world.group(2));
    world.create_pods(0, 1, 1);
    world.kube.put(world.member(2, 8));
    world.settle();

    // t-2 came second, and is one of the two.
    CHECK(world.slurm.jobs().begin()->second.asked.cpus_per_task == 8);
    CHECK(world.slurm.jobs().begin()->second.asked.tasks == 2);
}

TEST_CASE("a PodGroup that goes takes the waiting job with it")
{
    for (GroupApi api : both) {
        GroupWorld world(api);
        world.drain_all();
        world.put_group(world.group(2));
        world.create_pods(0, 2);
        CHECK(world.slurm.living().size() == 1);

        world.delete_group("g");
        world.pass(seconds(3));
        CHECK(world.slurm.living().empty());
        CHECK(world.said_on("t-0") == "PodGroup g does not exist yet.");
        CHECK(world.kube.count("fail_pod") == 0);
    }
}

TEST_CASE(
    "a gang that runs does not mind that its PodGroup goes, nor a restart")
{
    for (GroupApi api : both) {
        GroupWorld world(api);
        world.put_group(world.group(2));
        world.create_pods(0, 2);
        world.run_containers("t-0");
        world.run_containers("t-1");
        world.delete_group("g");
        world.start_agent();
        world.pass(seconds(90));
        CHECK(world.slurm.living().size() == 1);
        CHECK(world.only_job().job.state == JobState::running);

        world.end_containers("t-0", 0);
        world.end_containers("t-1", 3);
        world.pass(seconds(2));
        CHECK(world.only_job().status == 3 << 8);
    }
}

TEST_CASE("Pods of a PodGroup made anew do not join the job of the former one")
{
    GroupWorld world(GroupApi::plugins);
    world.put_group(world.group(2));
    world.create_pods(0, 2);
    world.run_containers("t-0");
    world.run_containers("t-1");
    world.end_containers("t-1", 0); // its task is free
    world.delete_group("g");
    world.put_group(world.group(2, "u-2"));
    world.create_pods(2, 4);
    world.pass(seconds(2));
    CHECK(world.said_on("t-2").contains("PodGroup g was recreated"));
    CHECK(world.bound(4) == 2);

    world.end_containers("t-0", 0);
    world.pass(seconds(40));
    CHECK(world.bound(4) == 4);
    CHECK(world.job_of_group().job.tag.group == "u-2");
}

TEST_CASE("another minimum is another job, while it waits")
{
    GroupWorld world(GroupApi::plugins);
    world.drain_all();
    world.put_group(world.group(2));
    world.create_pods(0, 3);
    CHECK(world.only_job().asked.tasks == 2);
    world.put_group(world.group(3));
    world.pass(seconds(3));

    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living()[0].asked.tasks == 3);
    world.put_group(world.group(100000));
    world.pass(seconds(3));
    CHECK(world.slurm.living().empty());
    CHECK(world.said_on("t-0").contains("MaxGangSize"));
}

TEST_CASE("the policy basic: each Pod is alone, also where that is known late")
{
    GroupWorld world;
    world.create_pods(0, 2);
    CHECK(world.slurm.jobs().empty());
    world.put_group(world.group(0));
    CHECK(world.bound(2) == 2);
    world.create_pods(2, 3);
    CHECK(world.bound(3) == 3);
    CHECK(world.slurm.jobs().size() == 3);
}

TEST_CASE(
    "scheduleTimeoutSeconds: so long some Pods keep nodes, waiting for others")
{
    for (int timeout : {0, 20}) {
        CAPTURE(timeout);
        GroupWorld world(GroupApi::plugins);
        GroupSpec group = world.group(3);
        group.timeout = seconds(timeout);
        world.put_group(group);
        world.create_pods(0, 2);
        world.kube.lose_reply("bind"); // of the first; the others get none
        for (int i = 0; i < 2000; i++)
            world.kube.fail_next("bind", Code::rejected);
        world.create_pods(2, 3);
        world.pass(seconds(15));
        CHECK(world.bound(3) == 1);
        CHECK(world.slurm.job(1).job.state == JobState::configuring);

        world.pass(seconds(15));
        CHECK((world.slurm.job(1).job.state == JobState::cancelled) ==
              (timeout != 0));
    }
}

TEST_CASE("the PodGroup says why it waits, then that it is scheduled, for good")
{
    GroupWorld world;
    world.drain_all();
    world.put_group(world.group(2));
    world.create_pods(0, 1);
    world.pass(seconds(2));
    CHECK(world.scheduled_of("g") ==
          "False Unschedulable 1 of 2 Pods of gang g exist.");
    world.create_pods(1, 2);
    world.pass(seconds(40));
    CHECK(world.scheduled_of("g").contains("False Unschedulable Slurm job"));
    std::size_t patches = world.kube.count("patch_group");
    world.start_agent(); // says nothing twice
    world.pass(seconds(40));
    CHECK(world.kube.count("patch_group") == patches);

    for (const Node &node : world.nodes)
        world.slurm.resume_by_hand(node.name);
    world.pass(seconds(3));
    CHECK(world.scheduled_of("g") == "True Scheduled ");

    world.drain_all();
    world.create_pods(2, 3);
    world.pass(seconds(40));
    CHECK(world.bound(3) == 2);
    CHECK(world.scheduled_of("g") == "True Scheduled ");
}

TEST_CASE("a PodGroup that could not be told is told later")
{
    GroupWorld world;
    world.kube.fail_next("patch_group", Code::conflict);
    world.kube.fail_next("patch_group", Code::busy);
    world.put_group(world.group(1));
    world.create_pods(0, 1);
    CHECK(world.scheduled_of("g") == "  ");
    world.pass(seconds(40));
    CHECK(world.scheduled_of("g") == "True Scheduled ");
}

TEST_CASE("a PodGroup whose controller is absent gets its status from us")
{
    GroupWorld world(GroupApi::plugins);
    world.put_group(world.group(2));
    world.create_pods(0, 1);
    world.pass(seconds(9));
    CHECK(world.kube.count("patch_group") == 0);
    world.pass(seconds(2));
    CHECK(world.group_status() == "Pending 0 0 0");
    world.create_pods(1, 3); // the last one gets a job of its own
    world.pass(seconds(2));
    CHECK(world.group_status() == "Scheduling 0 0 0");
    for (int i = 0; i < 3; i++)
        world.run_containers(world.name(i));
    world.pass(seconds(2));
    CHECK(world.group_status() == "Running 3 0 0");
    CHECK(world.scheduled_of("g") == "  ");

    std::size_t patches = world.kube.count("patch_group");
    world.start_agent(); // says nothing twice
    world.pass(seconds(40));
    CHECK(world.kube.count("patch_group") == patches);
    for (int i = 0; i < 3; i++)
        world.end_containers(world.name(i), 0);
    world.pass(seconds(2));
    CHECK(world.group_status() == "Finished 0 3 0");
    for (int i = 0; i < 3; i++) {
        world.delete_as_user(world.name(i));
        world.finish_deletion(world.name(i));
    }
    world.pass(seconds(40));
    CHECK(world.group_status() == "Finished 0 3 0");
}

TEST_CASE("a PodGroup whose controller is there gets nothing from us")
{
    GroupWorld world(GroupApi::plugins);
    GroupSpec group = world.group(2);
    group.status.phase = "Pending";
    group.status_writer = StatusWriter::others;
    world.put_group(group);
    world.create_pods(0, 2);
    world.pass(seconds(40));
    CHECK(world.bound(2) == 2);
    CHECK(world.kube.count("patch_group") == 0);
}

TEST_CASE("a PodGroup's Pods that are gone from a list do not count any more")
{
    GroupWorld world(GroupApi::plugins);
    world.put_group(world.group(1));
    world.create_pods(0, 1);
    world.pass(seconds(11));
    CHECK(world.group_status() == "Scheduling 0 0 0");
    world.watch_pods = false;
    world.kube.erase({"default", "t-0"});
    world.send_lists();
    world.pass(seconds(2));
    CHECK(world.group_status() == "Pending 0 0 0");
}

TEST_CASE(
    "a status that was refused as old is written when the new one is seen")
{
    GroupWorld world(GroupApi::plugins);
    world.kube.fail_next("patch_group", Code::conflict);
    world.kube.fail_next("patch_group", Code::busy);
    world.put_group(world.group(1));
    world.create_pods(0, 1);
    world.pass(seconds(13));
    CHECK(world.group_status() == " 0 0 0");
    world.pass(seconds(31));
    CHECK(world.group_status() == "Scheduling 0 0 0");
}

TEST_CASE("a JobSet is a gang of all its Pods, of which later ones join")
{
    GroupWorld world(GroupApi::jobset);
    GroupSpec set = world.group(2);
    set.size = 4;
    world.put_group(set);
    world.create_pods(0, 1);
    world.pass(seconds(2));
    CHECK(world.said_on("t-0") == "1 of 2 Pods of gang g exist.");
    world.create_pods(1, 2);
    CHECK(world.bound(2) == 2);
    CHECK(world.only_job().asked.tasks == 4);
    world.create_pods(2, 5);
    CHECK(world.bound(5) == 4);
    CHECK(world.slurm.jobs().size() == 1);
    CHECK(world.kube.count("patch_group") == 0);

    world.start_agent();
    world.pass(seconds(70));
    CHECK(world.slurm.living().size() == 1);
}

TEST_CASE("a JobSet of the same name with another uid says nothing")
{
    GroupWorld world(GroupApi::jobset);
    world.put_group(world.group(2, "u-9"));
    world.create_pods(0, 2);
    world.pass(seconds(2));
    CHECK(world.said_on("t-0") == "JobSet g does not exist yet.");
    world.put_group(world.group(2));
    CHECK(world.bound(2) == 2);
}

TEST_CASE("killed at any step, a gang of a PodGroup goes on, and nothing twice")
{
    for (int steps = 1; steps < 60; steps++) {
        CAPTURE(steps);
        GroupWorld world;
        world.put_group(world.group(3));
        for (int i = 0; i < 5; i++)
            world.kube.put(world.member(i));
        world.step(steps);
        world.start_agent();
        world.pass(seconds(10));

        CHECK(world.slurm.living().size() == 3);
        CHECK(world.bound(5) == 5);
        CHECK(world.job_of_group().job.state == JobState::running);
        CHECK(world.kube.count("fail_pod") == 0);
        CHECK(world.kube.count("delete_pod") == 0);
    }
}
