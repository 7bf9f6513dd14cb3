// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's jobs that slurmctld, after a crash, does not know any more or places
// anew while their Pods run.
#include "tests/unit/flows/batch_world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE("a Pod whose job a crash lost fails, and gets no other job")
{
    BatchWorld world;
    world.start_agent();
    world.slurm.fail_always("set_tag", Code::busy); // it stays without its job
    JobRef job = world.run();
    REQUIRE(world.kube.pods().size() == 1);

    world.slurm.purge(job.id);
    world.pass(world.conf.orphan_grace - seconds(5));
    CHECK(world.pod(world.pod_name())->phase == "Pending");
    world.pass(seconds(20));

    CHECK(world.pod(world.pod_name())->phase == "Failed");
    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.secret().empty());
    CHECK_FALSE(world.has_script());
}

TEST_CASE("a living Pod whose job is lost is adopted for its own user")
{
    BatchWorld world;
    world.conf.default_user = "bin"; // somebody else
    world.start_agent();
    JobRef job = world.run();
    world.run_containers(world.pod_name());

    world.slurm.purge(job.id);
    world.start_agent();
    world.pass(seconds(10));

    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living().front().asked.user_id == world.user);
    // Not the partition's default, which would end a healthy Pod.
    CHECK(world.slurm.living().front().asked.time_limit == 2880);
    CHECK(world.kube.pods().size() == 1);
    CHECK(world.kube.pods().front().living());
}

// slurmctld crashes within the seconds after an allocation, before it has saved
// that and the job's tag. again: and so does the agent.
static void crash_slurmctld(BatchWorld &world, JobRef job, bool again)
{
    world.cut_socket();
    world.slurm.forget_allocation(job.id);
    if (again)
        world.start_agent();
    world.connect_socket();
    world.settle();
}

TEST_CASE(
    "a crash that takes allocation and tag leaves a Pod that runs its job's")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.run_containers(world.pod_name());
        world.slurm.hold(job.id);
        std::string node = world.node_of(world.pod_name());
        auto before =
            static_cast<std::ptrdiff_t>(world.slurm.synced_said.size());

        crash_slurmctld(world, job, again);
        world.pass(seconds(10)); // it is adopted

        // Until then nobody else may start there.
        CHECK(std::ranges::any_of(
            world.slurm.synced_said.begin() + before,
            world.slurm.synced_said.end(),
            [&](const HookMessage &said) { return said.dirty == node; }));

        REQUIRE(world.slurm.living().size() == 1);
        JobRef adopting = world.slurm.living().front().job.ref;
        CHECK(world.slurm.living().front().asked.user_id == world.user);
        CHECK(world.kube.count("create_pod") == 1);
        CHECK(world.kube.count("bind") == 1);
        world.end_containers(world.pod_name(), 7);
        CHECK(world.slurm.job(adopting.id).status == 7 << 8);
        CHECK(world.slurm.living().empty());
        CHECK_FALSE(world.has_script());
    }
}

TEST_CASE("a job that such a crash gives back to its node goes on with its Pod")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.run_containers(world.pod_name());
        std::string node = world.node_of(world.pod_name());

        world.cut_socket();
        world.slurm.forget_allocation(job.id);
        world.slurm.reallocate(job.id, node);
        if (again)
            world.start_agent();
        world.connect_socket();
        world.pass(seconds(10));

        world.check_runs(job);
        CHECK(world.kube.count("put_secret") == 1);
        world.end_containers(world.pod_name(), 0);
        CHECK(world.state(job) == JobState::completed);
        CHECK(world.slurm.jobs().size() == 1);
    }
}

TEST_CASE(
    "a job whose Pod ended before such a crash ends as that, and runs once")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.slurm.hold(job.id);
        world.slurm.answers = false; // nobody hears how the Pod ends
        world.end_containers(world.pod_name(), 0);
        world.slurm.answers = true;

        crash_slurmctld(world, job, again);
        world.pass(seconds(60));
        CHECK(world.state(job) == JobState::pending);
        world.slurm.release(job.id);
        world.slurm.schedule();
        world.pass(seconds(5));

        CHECK(world.state(job) == JobState::completed);
        CHECK(world.record(job).status == 0);
        CHECK(world.kube.pods().size() == 1);
        CHECK(world.slurm.jobs().size() == 1);
    }
}

TEST_CASE("a job that comes back after all of it was over ends as its Pod did")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.end_containers(world.pod_name(), 3);
    REQUIRE_FALSE(world.has_script());

    crash_slurmctld(world, job, false);
    world.slurm.schedule();
    world.pass(world.conf.orphan_grace + seconds(10));

    CHECK(world.state(job) == JobState::failed);
    CHECK(world.record(job).status == 3 << 8);
    CHECK(world.record(job).comment.empty());
    CHECK(world.kube.count("bind") == 1);
}
