// SPDX-License-Identifier: GPL-2.0-or-later
// Job arrays of sbatch whose tasks have several nodes each: a task is a gang of
// its own. What a crash of slurmctld makes of them, which forgets that a task
// has started, and starts it again under another JobId.
#include "tests/unit/flows/batch_nodes_world.h"

#include "agent/batch/srun.h"
#include "agent/decide/decide_batch_gang.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr JobId array = 4000;

struct TasksWorld : NodesWorld {
    TasksWorld()
    {
        BatchScript batch;
        batch.array = "0-3";
        put_script(batch);
    }

    // As slurmctld splits it from its array; of two tasks.
    JobRef split(std::uint32_t index, std::uint32_t nodes_given = 2)
    {
        JobDescription job = job_of_script();
        job.min_nodes = job.max_nodes = nodes_given;
        job.tasks = 2;
        return slurm.plant(job, ArrayTask{array, index});
    }
    JobRef start(std::uint32_t index) { return scheduled(split(index)); }
    JobRef run_task(std::uint32_t index)
    {
        JobRef job = start(index);
        for (std::uint32_t rank : {0u, 1u})
            run_containers(name(index, rank));
        return job;
    }
    std::string name(std::uint32_t index, std::uint32_t rank = 0) const
    {
        std::string first =
            "job-4000-" + std::to_string(index) + "-" + script.substr(0, 8);
        return rank == 0 ? first : first + "-" + std::to_string(rank);
    }
    Pod task_pod(std::uint32_t index, std::uint32_t rank = 0) const
    {
        auto found = kube.find({"default", name(index, rank)});
        REQUIRE(found);
        return *found;
    }
    std::string task_secret(std::uint32_t index) const
    {
        return kube.secret({"default", name(index)});
    }
    bool lives(JobRef job) const { return !is_ended(state(job)); }

    // What Kubernetes removes since the Pod that owns it is gone: workers,
    // which kubelets end, and Services.
    void collect()
    {
        auto is_there = [this](const std::string &uid) {
            return std::ranges::contains(kube.pods(), uid, &Pod::uid);
        };
        for (const Pod &pod : kube.pods())
            if (auto place = batch_place(pod);
                place && !place->first.empty() && !is_there(place->first))
                kube.erase(pod.key);
        std::erase_if(kube.services, [&](const auto &service) {
            return std::ranges::none_of(kube.pods(), [&](const Pod &pod) {
                return is_service_of(*Json::parse(service.second), pod);
            });
        });
    }
    void pass_and_collect(int seconds_long)
    {
        for (int i = 0; i < seconds_long; i++) {
            collect();
            pass(seconds(1));
        }
    }
    // Each Pod of the task on its own node, by that job.
    void check_task_runs(JobRef job, std::uint32_t index) const
    {
        const Job &shown = record(job).job;
        CHECK(shown.state == JobState::running);
        REQUIRE(shown.nodes.size() == 2);
        for (std::uint32_t rank : {0u, 1u}) {
            CAPTURE(rank);
            Pod pod = task_pod(index, rank);
            CHECK(pod.node_name == shown.nodes[rank]);
            CHECK(binder_of(pod) == job);
            CHECK(batch_mark(pod)->job == job);
            CHECK(batch_place(pod)->first ==
                  (rank == 0 ? "" : task_pod(index).uid));
        }
        CHECK(shown.tag.first == task_pod(index).uid);
        CHECK(task_secret(index).contains(task_pod(index).uid));
    }
};

} // namespace

TEST_CASE("each task of an array of several nodes is a gang of its own")
{
    TasksWorld world;
    world.start_agent();

    JobRef first = world.run_task(0);
    JobRef second = world.run_task(1);

    world.check_task_runs(first, 0);
    world.check_task_runs(second, 1);
    CHECK(world.kube.pods().size() == 4);
    CHECK(world.kube.services.size() == 2);
    CHECK(world.record(first).job.tag.uid != world.record(second).job.tag.uid);
    CHECK(world.task_secret(0) != world.task_secret(1));
    world.end_containers(world.name(0), 3);
    CHECK(world.record(first).status == 3 << 8);
    CHECK(world.task_pod(0, 1).deleting);
    CHECK_FALSE(world.task_pod(1, 1).deleting);
    world.finish_deletion(world.name(0, 1));
    CHECK(world.task_secret(0).empty());
    CHECK(world.has_script()); // for the second
    world.check_task_runs(second, 1);
    world.end_containers(world.name(1), 0);
    world.finish_deletion(world.name(1, 1));
    world.pass(world.conf.resync_interval + seconds(2));

    CHECK(world.state(first) == JobState::failed);
    CHECK(world.state(second) == JobState::completed);
    CHECK_FALSE(world.record(second).epilog_held);
    CHECK_FALSE(world.has_script());
    CHECK(world.kube.pods().size() == 2); // for their logs
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE("scancel of a task of several nodes ends its Pods, and no others")
{
    TasksWorld world;
    world.start_agent();
    JobRef first = world.run_task(0);
    JobRef second = world.run_task(1);

    world.slurm.scancel(first.id);
    world.settle();
    CHECK(world.task_pod(0).active_deadline == 1);
    world.end_containers(world.name(0), 143);
    world.finish_deletion(world.name(0, 1));

    CHECK(world.state(first) == JobState::cancelled);
    CHECK_FALSE(world.record(first).epilog_held);
    CHECK_FALSE(world.task_pod(1).active_deadline);
    world.check_task_runs(second, 1);
}

TEST_CASE("an agent that is killed at any point makes each Pod of a task once")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        TasksWorld world;
        world.start_agent();
        JobRef first = world.split(0);
        JobRef second = world.split(1);
        world.slurm.schedule();
        world.step(steps);

        world.start_agent();
        world.pass(seconds(10));

        world.check_task_runs(first, 0);
        world.check_task_runs(second, 1);
        CHECK(world.kube.pods().size() == 4);
        CHECK(world.slurm.jobs().size() == 2);
    }
}

TEST_CASE("a task of several nodes that slurmctld starts again runs once")
{
    for (bool again : {false, true}) {
        for (int later : {0, 3, 20}) { // when it gets its nodes
            CAPTURE(again);
            CAPTURE(later);
            TasksWorld world;
            world.start_agent();
            JobRef job = world.run_task(0);
            world.pass(seconds(2));

            world.lose(job);
            world.pass(seconds(later));
            if (again)
                world.start_agent();
            JobRef second = world.start(0);
            world.pass(world.conf.orphan_grace + seconds(30));

            CHECK(world.state(second) == JobState::cancelled);
            CHECK_FALSE(world.record(second).epilog_held);
            REQUIRE(world.slurm.living().size() == 2); // one for each Pod
            CHECK(world.kube.pods().size() == 2);
            CHECK(world.kube.count("bind") == 2);
            JobRef adopting = *binder_of(world.task_pod(0));
            world.end_containers(world.name(0), 7);
            world.pass(seconds(10));
            CHECK(world.record(adopting).status == 7 << 8);
            CHECK(world.slurm.living().empty());
            CHECK(world.task_pod(0, 1).deleting);
        }
    }
}

TEST_CASE("Pods that live by a lost job of the task never start its next one")
{
    TasksWorld world;
    world.start_agent();
    JobRef first = world.run_task(0);
    JobRef second = world.split(0);
    world.slurm.schedule();
    Gang gang;
    gang.grouped = gang.batch = gang.prolog_held = true;
    for (std::uint32_t rank : {0u, 1u})
        gang.pods.push_back(
            std::make_shared<const Pod>(world.task_pod(0, rank)));
    auto is_split = [&] { return is_kind<Split>(decide_batch_gang(gang, {})); };

    gang.job = world.record(second).job;
    CHECK(is_split());
    gang.job->state = JobState::pending;
    CHECK(is_split());
    gang.job = world.record(first).job;
    CHECK_FALSE(is_split());
}

TEST_CASE("a worker that lives by a lost job of the task is not taken for the "
          "next one's")
{
    TasksWorld world;
    world.start_agent();
    JobRef first = world.split(0);
    world.slurm.schedule();
    while (world.kube.count("bind") == 0)
        world.step(1);
    world.kube.fail_next("bind", Code::busy);
    world.settle();
    REQUIRE(world.task_pod(0, 1).bound());
    REQUIRE_FALSE(world.task_pod(0).bound());

    world.cut_socket();
    world.slurm.purge(first.id);
    world.kube.erase({"default", world.name(0)});
    world.connect_socket();
    JobRef second = world.start(0);
    CHECK(world.record(second).job.tag.uid.empty()); // it has not all its Pods
    world.pass(seconds(60));
    CHECK(world.task_pod(0, 1).deleting);
    world.finish_deletion(world.name(0, 1));
    world.pass(seconds(60));

    world.check_task_runs(second, 0);
}

TEST_CASE("a task of several nodes that was over ends as its script did, and "
          "runs once")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        TasksWorld world;
        world.start_agent();
        JobRef job = world.run_task(0);
        world.end_containers(world.name(0), 5);
        world.finish_deletion(world.name(0, 1));
        world.pass(seconds(2));

        world.lose(job);
        JobRef second = world.start(0);
        if (again)
            world.start_agent();
        world.pass(world.conf.orphan_grace + seconds(10));

        CHECK(world.state(second) == JobState::failed);
        CHECK(world.record(second).status == 5 << 8);
        CHECK_FALSE(world.record(second).epilog_held);
        CHECK(world.kube.count("bind") == 2);
        CHECK(world.kube.pods().size() == 1);
    }
}

TEST_CASE(
    "Pods of several nodes that were not bound are made anew for the next job")
{
    for (bool elsewhere : {false, true}) {
        CAPTURE(elsewhere);
        TasksWorld world;
        world.start_agent();
        for (int i = 0; i < 4; i++)
            world.kube.fail_next("put_secret", Code::busy);
        JobRef job = world.start(0);
        REQUIRE(world.kube.pods().size() == 2);
        std::string uid = world.task_pod(0).uid;
        world.pass(seconds(2));

        world.lose(job);
        if (elsewhere)
            world.slurm.set_drained("kn1", "test");
        JobRef second = world.start(0);
        world.pass_and_collect(40);

        world.check_task_runs(second, 0);
        CHECK(world.task_pod(0).uid != uid);
        CHECK(world.kube.count("bind") == 2);
        CHECK(world.kube.pods().size() == 2);
        CHECK(world.kube.services.size() == 1);
    }
}

TEST_CASE("a Pod of several nodes is no Pod for one node")
{
    TasksWorld world;
    world.start_agent();
    for (int i = 0; i < 4; i++)
        world.kube.fail_next("put_secret", Code::busy);
    JobRef job = world.start(0);
    world.pass(seconds(2));

    world.lose(job);
    JobRef second = world.split(0, 1); // of --nodes=1-2
    world.slurm.schedule();
    world.pass_and_collect(40);

    CHECK(world.state(second) == JobState::running);
    REQUIRE(world.kube.pods().size() == 1);
    CHECK(world.task_pod(0).bound());
    CHECK(batch_place(world.task_pod(0))->count == 1);
}

// Whatever was done by then: either the first job's Pods go on, each with a job
// that adopts it, or the second has all of them anew.
TEST_CASE(
    "a task that slurmctld forgets at any point runs once, and nothing stays")
{
    for (bool again : {false, true}) {
        for (int steps = 0; steps < 60; steps++) {
            CAPTURE(again);
            CAPTURE(steps);
            TasksWorld world;
            world.start_agent();
            JobRef job = world.split(0);
            world.slurm.schedule();
            world.step(steps);
            auto before = world.kube.find({"default", world.name(0)});
            bool runs = before && before->bound();

            world.lose(job);
            if (again)
                world.start_agent();
            JobRef second = world.start(0);
            world.pass_and_collect(90);

            if (!runs && world.lives(second)) {
                world.check_task_runs(second, 0);
                CHECK(world.kube.pods().size() == 2);
            } else {
                // It may have been bound after that look.
                CHECK(world.state(second) == JobState::cancelled);
                CHECK(world.task_pod(0).living());
                CHECK(world.task_pod(0).uid == before->uid);
            }
            CHECK_FALSE(world.record(second).epilog_held);
            for (const auto &[id, known] : world.slurm.jobs())
                CHECK(known.job.state != JobState::configuring);
        }
    }
}
