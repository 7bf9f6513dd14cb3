// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's jobs, which are there before their Pods: the whole life, and what is
// left when it is cut off at any point.
#include "tests/unit/flows/batch_flows.h"
#include "tests/unit/flows/batch_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE("a batch job gets its Pod when it has a node, and not before")
{
    BatchWorld world;
    check_made_when_placed(world, 1);
}

TEST_CASE("when a job ends that wants a signal before is kept right on its Pod")
{
    BatchWorld world;
    world.start_agent();
    world.slurm.ends = std::chrono::sys_seconds(seconds(1000));
    JobRef job = world.submit(world.user, {.signal = 10, .signal_seconds = 60});
    auto ends = [&] {
        return world.pod(world.pod_name())->annotation("slurmk8s/sbatch-ends");
    };

    world.slurm.schedule();
    world.settle();
    CHECK(ends() == "1000");
    world.run_containers(world.pod_name());
    world.slurm.ends += seconds(500);
    world.pass(world.conf.reason_interval + seconds(1));
    CHECK(ends() == "1500");

    world.slurm.ends += seconds(500);
    world.slurm.fail_next("load_batch", Code::uncertain);
    world.pass(world.conf.reason_interval + seconds(1));
    CHECK(ends() == "1500");
    world.pass(world.conf.reason_interval + seconds(1));
    CHECK(ends() == "2000");
    world.check_runs(job);
}

TEST_CASE("nobody asks when a job ends that wants no signal")
{
    BatchWorld world;
    world.start_agent();
    world.run();
    world.run_containers(world.pod_name());
    auto asked = world.slurm.count("load_batch");

    world.pass(3 * world.conf.reason_interval);

    CHECK(world.slurm.count("load_batch") == asked);
    CHECK(world.pod(world.pod_name())
              ->annotation("slurmk8s/sbatch-ends")
              .empty());
}

TEST_CASE("the end of the Pod is the job's, and what was kept for it goes")
{
    for (auto [code, state] :
         {std::pair{0, JobState::completed}, {7, JobState::failed}}) {
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.run_containers(world.pod_name());

        world.end_containers(world.pod_name(), code);

        CHECK(world.state(job) == state);
        CHECK(world.record(job).status == code << 8);
        CHECK(world.secret().empty());
        CHECK_FALSE(world.has_script());
        CHECK(world.kube.pods().size() == 1); // for its logs
        CHECK(world.slurm.jobs().size() == 1);
    }
}

TEST_CASE(
    "an agent that is killed at any point makes one Pod, and binds it once")
{
    check_kills_while_made<BatchWorld>(60);
}

TEST_CASE("an answer that is lost, or a call that fails, costs time only")
{
    check_lost_answers<BatchWorld>({"create_pod", "put_secret", "bind"}, 1);
    for (const char *what : {"load_batch", "set_tag"}) {
        CAPTURE(what);
        BatchWorld world;
        world.start_agent();
        world.slurm.fail_next(what, Code::uncertain);

        JobRef job = world.run();
        world.pass(seconds(10));

        world.check_runs(job);
    }
}

TEST_CASE("scancel ends the Pod of a batch job, and no other job is asked for")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.run_containers(world.pod_name());

    world.slurm.scancel(job.id);
    world.settle();
    CHECK(world.pod(world.pod_name())->active_deadline == 1);
    world.end_containers(world.pod_name(), 143);

    CHECK(world.slurm.living().empty());
    CHECK(world.slurm.jobs().size() == 1);
    CHECK_FALSE(world.has_script());
    CHECK(world.secret().empty());
}

TEST_CASE("a job that is cancelled while its Pod is made never binds it")
{
    check_cancels_while_made<BatchWorld>(30);
}
