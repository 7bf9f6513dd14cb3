// SPDX-License-Identifier: GPL-2.0-or-later
// Job arrays of sbatch: to the agent each task is a batch job, and all of them
// have one script. What a crash of slurmctld makes of them.
#include "tests/unit/flows/script_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr JobId array = 4000;

struct ArrayWorld : ScriptWorld {
    ArrayWorld()
    {
        BatchScript batch;
        batch.array = "0-3";
        put_script(batch);
    }

    // It is split from the array, and gets a node.
    JobRef start(std::uint32_t index) { return scheduled(split(index)); }
    JobRef split(std::uint32_t index)
    {
        return slurm.plant(job_of_script(), ArrayTask{array, index});
    }
    std::string pod_of(std::uint32_t index) const
    {
        return "job-4000-" + std::to_string(index) + "-" + script.substr(0, 8);
    }
    std::string secret(std::uint32_t index) const
    {
        return kube.secret({"default", pod_of(index)});
    }
    // slurmctld crashes and has forgotten that it has started this task.
    void lose(JobRef job)
    {
        pass(seconds(2)); // its list of jobs is of later than the job
        ScriptWorld::lose(job);
        settle();
    }
    // For longer than lose() takes.
    void fail_secrets()
    {
        for (int i = 0; i < 4; i++)
            kube.fail_next("put_secret", Code::busy);
    }
};

} // namespace

TEST_CASE(
    "each task of an array gets its Pod, and the script stays for the last")
{
    ArrayWorld world;
    world.start_agent();
    JobRef first = world.start(0);
    JobRef second = world.start(1);
    world.run_containers(world.pod_of(0));
    world.run_containers(world.pod_of(1));
    JobRef waits = world.split(2);
    world.slurm.hold(waits.id);

    world.end_containers(world.pod_of(0), 0);
    world.end_containers(world.pod_of(1), 3);
    world.pass(world.conf.resync_interval + seconds(2));

    CHECK(world.state(first) == JobState::completed);
    CHECK(world.slurm.job(second.id).status == 3 << 8);
    CHECK(world.secret(0).empty());
    CHECK(world.secret(1).empty());
    CHECK(world.has_script());
    world.slurm.release(waits.id);
    world.slurm.schedule();
    world.settle();
    CHECK_FALSE(world.secret(2).empty());
    world.run_containers(world.pod_of(2));
    world.end_containers(world.pod_of(2), 0);
    world.pass(world.conf.resync_interval + seconds(2));
    CHECK_FALSE(world.has_script());
    CHECK(world.kube.pods().size() == 3);
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE(
    "the script of an array stays until the Secret of its last Pod is gone")
{
    ArrayWorld world;
    world.start_agent();
    world.start(0);
    world.run_containers(world.pod_of(0));
    for (int i = 0; i < 20; i++)
        world.kube.fail_next("delete_secret", Code::busy);

    world.end_containers(world.pod_of(0), 0);
    world.pass(world.conf.resync_interval + seconds(2));
    CHECK_FALSE(world.secret(0).empty());
    CHECK(world.has_script()); // so that an agent that starts tidies up again
    world.pass(world.conf.resync_interval * 3);

    CHECK(world.secret(0).empty());
    CHECK_FALSE(world.has_script());
}

TEST_CASE("a task that runs, and that slurmctld starts again, runs once")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        ArrayWorld world;
        world.start_agent();
        JobRef job = world.start(0);
        world.run_containers(world.pod_of(0));

        world.lose(job);
        if (again)
            world.start_agent();
        JobRef second = world.start(0);
        world.pass(seconds(30));

        CHECK(world.state(second) == JobState::cancelled);
        REQUIRE(world.slurm.living().size() == 1); // which adopts
        JobId adopting = world.slurm.living().front().job.ref.id;
        CHECK(world.kube.pods().size() == 1);
        CHECK(world.kube.count("bind") == 1);
        world.end_containers(world.pod_of(0), 7);
        CHECK(world.slurm.job(adopting).status == 7 << 8);
    }
}

TEST_CASE("a task that was over, and that slurmctld starts again, ends as its "
          "Pod did")
{
    ArrayWorld world;
    world.start_agent();
    JobRef job = world.start(0);
    world.run_containers(world.pod_of(0));
    world.end_containers(world.pod_of(0), 5);

    world.lose(job);
    JobRef second = world.start(0);
    world.pass(world.conf.orphan_grace + seconds(10));

    CHECK(world.state(second) == JobState::failed);
    CHECK(world.slurm.job(second.id).status == 5 << 8);
    CHECK(world.kube.count("bind") == 1);
    CHECK(world.kube.pods().size() == 1);
}

TEST_CASE("a Pod that was not bound when its task was lost is the next job's")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        ArrayWorld world;
        world.start_agent();
        world.fail_secrets();
        JobRef job = world.start(0);
        REQUIRE(world.kube.pods().size() == 1);

        world.lose(job);
        if (again)
            world.start_agent();
        JobRef second = world.start(0);
        world.pass(seconds(30));

        CHECK(world.state(second) == JobState::running);
        CHECK(world.kube.pods().size() == 1);
        CHECK(world.kube.count("bind") == 1);
        CHECK(world.secret(0).contains(world.kube.pods().front().uid));
        world.run_containers(world.pod_of(0));
        world.end_containers(world.pod_of(0), 0);
        CHECK(world.state(second) == JobState::completed);
    }
}

TEST_CASE(
    "such a Pod waits for its task while the array lives, and fails with it")
{
    ArrayWorld world;
    world.start_agent();
    world.fail_secrets();
    JobRef job = world.start(0);
    JobRef rest = world.split(1);
    world.slurm.hold(rest.id);

    world.lose(job);
    world.pass(world.conf.orphan_grace + world.conf.resync_interval);
    CHECK(world.pod(world.pod_of(0))->phase == "Pending");
    world.slurm.scancel(rest.id);
    world.pass(world.conf.orphan_grace + world.conf.resync_interval);

    CHECK(world.pod(world.pod_of(0))->phase == "Failed");
    CHECK(world.kube.count("bind") == 0);
}
