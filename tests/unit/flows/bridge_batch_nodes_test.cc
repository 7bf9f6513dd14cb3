// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs of several nodes: a Pod on each, of which one runs the script. The
// whole life, and what is left when it is cut off at any point.
#include "tests/unit/flows/batch_flows.h"
#include "tests/unit/flows/batch_nodes_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE("a batch job of several nodes gets a Pod on each, all at once")
{
    NodesWorld world;
    check_made_when_placed(world, 3);

    CHECK(whole_cpus_up(world.pod_of(0).requests.cpu) == 4); // two tasks
    CHECK(whole_cpus_up(world.pod_of(1).requests.cpu) == 2);
}

TEST_CASE("the end of the script's Pod is the end of all, with its exit code")
{
    for (auto [code, state] :
         {std::pair{0, JobState::completed}, {7, JobState::failed}}) {
        NodesWorld world;
        world.start_agent();
        JobRef job = world.run_all();

        world.end_containers(world.name_of(0), code);

        CHECK(world.record(job).status == code << 8);
        CHECK(world.record(job).epilog_held); // their containers live
        world.check_over(job, state);
        CHECK(world.record(job).completions == 1);
    }
}

TEST_CASE("a worker that ends before the script ends the job as failed")
{
    for (bool deleted : {false, true}) {
        CAPTURE(deleted);
        NodesWorld world;
        world.start_agent();
        JobRef job = world.run_all();
        std::string worker = world.name_of(2);

        if (deleted) {
            world.delete_as_user(worker);
            CHECK(world.record(job).job.state == JobState::running);
            world.finish_deletion(worker);
        } else {
            world.end_containers(worker, 0);
        }

        CHECK(world.record(job).job.state == JobState::failed);
        CHECK(world.record(job).status == 1 << 8);
        CHECK(world.record(job).comment.contains("Pod"));
        CHECK(world.pod_of(0).active_deadline == 1);
        CHECK(world.pod_of(1).deleting);
    }
}

TEST_CASE(
    "the comment of a job says which worker went before its script failed")
{
    for (bool deleted : {false, true}) {
        CAPTURE(deleted);
        NodesWorld world;
        world.start_agent();
        JobRef job = world.run_all();

        if (deleted)
            world.delete_as_user(world.name_of(2));
        world.end_containers(world.name_of(0), 143); // srun's, which lost it

        CHECK(world.record(job).job.state == JobState::failed);
        CHECK(world.record(job).status == 143 << 8);
        CHECK(world.record(job).comment.contains("the Pod of node kn3") ==
              deleted);
    }
}

TEST_CASE(
    "a job of several nodes whose script's Pod a user deletes is cancelled")
{
    NodesWorld world;
    world.start_agent();
    JobRef job = world.run_all();
    std::string first = world.name_of(0);

    world.delete_as_user(first);
    world.finish_deletion(first);

    CHECK(world.record(job).job.state == JobState::cancelled);
    CHECK(world.pod_of(1).deleting);
    CHECK(world.pod_of(2).deleting);
}

TEST_CASE("scancel ends all Pods of a job of several nodes")
{
    NodesWorld world;
    world.start_agent();
    JobRef job = world.run_all();

    world.slurm.scancel(job.id);
    world.settle();
    CHECK(world.pod_of(0).active_deadline == 1);
    CHECK(world.record(job).epilog_held);
    world.end_containers(world.name_of(0), 143);

    world.check_over(job, JobState::cancelled);
}

TEST_CASE("an agent that is killed at any point makes each Pod of a job once")
{
    check_kills_while_made<NodesWorld>(80);
}

TEST_CASE(
    "an agent that is killed while a job of several nodes ends leaves nothing")
{
    for (int steps = 0; steps < 40; steps++) {
        CAPTURE(steps);
        NodesWorld world;
        world.start_agent();
        JobRef job = world.run_all();
        std::string first = world.name_of(0);
        world.kube.change({"default", first}, [](Pod &pod) {
            pod.phase = "Succeeded";
            pod.containers = {
                {.name = "job", .terminated = true, .reason = ""}};
        });
        world.step(steps);

        world.start_agent();
        world.pass(seconds(10));

        CHECK(world.record(job).status == 0);
        world.check_over(job, JobState::completed);
    }
}

TEST_CASE("an answer that is lost costs a job of several nodes time only")
{
    for (int times : {1, 2, 3}) {
        CAPTURE(times);
        check_lost_answers<NodesWorld>({"create_pod", "put_secret", "bind"},
                                       times);
    }
}

TEST_CASE("a job of several nodes that is cancelled while its Pods are made "
          "binds none")
{
    check_cancels_while_made<NodesWorld>(40);
}

TEST_CASE("Pods that were made for other nodes are made anew, and none is "
          "bound there")
{
    NodesWorld world;
    world.start_agent();
    world.slurm.fail_always("set_tag", Code::busy);
    JobRef job = world.submit(2);
    world.slurm.schedule();
    world.settle();
    REQUIRE(world.kube.pods().size() == 2);
    std::string uid = world.pod_of(0).uid;

    // slurmctld crashes, and places it elsewhere.
    world.cut_socket();
    world.slurm.forget_allocation(job.id);
    world.slurm.reallocate(job.id, std::vector<std::string>{"kn2", "kn3"});
    world.slurm.heal("set_tag");
    world.connect_socket();
    world.pass(seconds(20));

    world.check_runs(job);
    CHECK(world.pod_of(0).uid != uid);
    CHECK(world.record(job).job.nodes ==
          std::vector<std::string>{"kn2", "kn3"});
}

// Fail closed: an API server that lists too little must not end a job.
TEST_CASE(
    "a worker that a list lacks, and that is there, does not fail its job")
{
    NodesWorld world;
    world.start_agent();
    JobRef job = world.run_all();
    std::vector<Pod> listed = world.kube.pods();
    std::erase_if(listed,
                  [](const Pod &pod) { return batch_place(pod)->rank == 1; });

    world.deliver(Listed<Pod>{"slurm", listed});
    world.pass(seconds(30));
    world.check_runs(job);

    world.send_lists();
    world.pass(seconds(90));
    world.check_runs(job);
    world.end_containers(world.name_of(0), 3);
    world.pass(seconds(2));
    CHECK(world.record(job).status == 3 << 8);
}

TEST_CASE(
    "workers with jobs of their own outlive a list that lacks the script's Pod")
{
    NodesWorld world;
    world.start_agent();
    JobRef job = world.run_all();
    world.cut_socket();
    world.slurm.purge(job.id);
    world.connect_socket();
    world.pass(seconds(20));
    REQUIRE(world.slurm.living().size() == 3);
    std::vector<Pod> listed = world.kube.pods();
    std::erase_if(listed,
                  [](const Pod &pod) { return batch_place(pod)->rank == 0; });

    world.deliver(Listed<Pod>{"slurm", listed});
    world.pass(seconds(30));
    CHECK(world.slurm.living().size() == 3);
    for (std::uint32_t rank : {0u, 1u, 2u})
        CHECK_FALSE(told_to_end(world.pod_of(rank)));

    world.send_lists();
    world.pass(seconds(60));
    CHECK(world.slurm.living().size() == 3);
    world.end_containers(world.name_of(0), 0);
    world.pass(seconds(60));
    CHECK(world.slurm.living().empty());
    world.check_workers_go();
}

TEST_CASE(
    "one of several Pods that is deleted before they are bound ends the job")
{
    NodesWorld world;
    world.start_agent();
    world.slurm.fail_always("load", Code::busy); // nobody binds
    JobRef job = world.run();
    REQUIRE(world.kube.pods().size() == 3);
    world.kube.erase({"default", world.name_of(1)});
    world.slurm.heal("load");

    world.pass(world.conf.bind_timeout - seconds(30));
    CHECK(world.record(job).job.state == JobState::configuring);
    world.pass(seconds(60));

    CHECK(world.record(job).job.state == JobState::failed);
    CHECK(world.kube.count("bind") == 0);
}

TEST_CASE(
    "Pods of several nodes whose job is lost go on, and end with the script's")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        NodesWorld world;
        world.start_agent();
        JobRef job = world.run_all();
        world.cut_socket();
        world.slurm.purge(job.id);
        if (again)
            world.start_agent();
        world.connect_socket();
        world.pass(seconds(20));

        REQUIRE(world.slurm.living().size() == 3); // one for each
        CHECK(world.kube.count("create_pod") == 3);
        for (std::uint32_t rank : {0u, 1u, 2u})
            CHECK(world.pod_of(rank).living());
        world.end_containers(world.name_of(0), 0);
        world.pass(seconds(10));

        CHECK(world.slurm.living().empty());
        world.check_workers_go();
        world.pass(seconds(2));
        CHECK(world.kube.pods().size() == 1);
    }
}
