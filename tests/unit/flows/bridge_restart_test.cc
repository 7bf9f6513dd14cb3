// SPDX-License-Identifier: GPL-2.0-or-later
// The agent is killed after each single step of each life of a Pod, and started
// anew: the end is the same as if nothing had happened.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr int all_steps = 60; // more than any of these lives has

// Lets the agent take so many steps, kills it, and lets another one go on.
void restart_after(World &world, int steps)
{
    world.step(steps);
    world.kill_agent();
    world.slurm.schedule(); // slurmctld goes on meanwhile
    world.start_agent();
    world.pass(seconds(5));
}

} // namespace

TEST_CASE("killed anywhere before the Pod runs: one job, one binding")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.kube.put(make_pod("web"));

        restart_after(world, steps);

        CHECK(world.slurm.jobs().size() == 1);
        CHECK(world.slurm.job(1).job.state == JobState::running);
        CHECK(world.kube.count("bind") == 1);
        CHECK(world.node_of("web") != "");
        CHECK_FALSE(world.pod("web")->deleting);
    }
}

TEST_CASE("killed anywhere, several times in a row: one job, one binding")
{
    for (int steps = 0; steps < 20; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.kube.put(make_pod("web"));

        for (int again = 0; again < 4; again++) {
            world.step(steps);
            world.kill_agent();
            world.start_agent_unlisted();
            world.send_lists();
        }
        world.pass(seconds(5));

        CHECK(world.slurm.jobs().size() == 1);
        CHECK(world.slurm.job(1).job.state == JobState::running);
        CHECK(world.kube.count("bind") == 1);
    }
}

TEST_CASE("killed anywhere around the end of the Pod: its exit code, once")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.create("web");
        world.kube.change({"default", "web"}, [](Pod &p) {
            p.phase = "Failed";
            p.containers = {{"main", true, 7, 0, "Error"}};
        });

        restart_after(world, steps);

        CHECK(world.only_job().status == 7 << 8);
        CHECK(world.only_job().completions == 1);
        CHECK_FALSE(world.only_job().epilog_held);
    }
}

TEST_CASE("killed anywhere around an scancel: the Pod ends, then the epilog")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.create("web");
        world.slurm.scancel(1);

        restart_after(world, steps);

        CHECK(world.pod("web")->deleting);
        CHECK(world.only_job().epilog_held);
        CHECK(world.kube.count("delete_pod") == 1);
        world.finish_deletion("web");
        CHECK_FALSE(world.only_job().epilog_held);
        CHECK(world.slurm.jobs().size() == 1);
    }
}

TEST_CASE("killed anywhere around an scancel of a waiting Pod: it fails")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.nodes = {make_node("kn1", 1)};
        world.start_agent();
        world.create("first");
        world.create("web");
        world.slurm.scancel(2);
        world.now += seconds(3);

        restart_after(world, steps);

        CHECK(world.pod("web")->phase == "Failed");
        CHECK(world.pod("web")->reason == "SlurmJobCancelled");
        CHECK(world.slurm.jobs().size() == 2);
        CHECK(world.slurm.job(1).job.state == JobState::running);
    }
}

TEST_CASE("killed anywhere around a deletion: the job is cancelled")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.create("web");
        world.kube.erase({"default", "web"});

        restart_after(world, steps);
        world.pass(seconds(70)); // OrphanGrace

        CHECK(world.only_job().job.state == JobState::cancelled);
        CHECK(world.only_job().completions == 1);
        CHECK_FALSE(world.only_job().epilog_held);
    }
}

// The raised generation tells our own cancel from a user's.
TEST_CASE("killed anywhere while a job is replaced: the Pod still runs, once")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.slurm.add_misfit("a-misfit");
        world.kube.put(make_pod("web"));

        world.step(steps);
        world.kill_agent();
        world.slurm.remove_node("a-misfit");
        world.slurm.schedule();
        world.start_agent();
        world.pass(seconds(10));

        CHECK(world.slurm.living().size() == 1);
        CHECK(world.allocation_count() == 1);
        CHECK(world.pod("web")->phase == "Pending");
        CHECK(world.node_of("web") != "");
        CHECK(world.kube.count("bind") == 1);
    }
}

TEST_CASE("the answer to a submit lost and the agent killed: one job")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.slurm.lose_reply("submit");
        world.kube.put(make_pod("web"));

        restart_after(world, steps);

        CHECK(world.slurm.living().size() == 1);
        CHECK(world.kube.count("bind") == 1);
        CHECK(world.node_of("web") != "");
    }
}

TEST_CASE("the socket cut anywhere: the same end")
{
    for (int steps = 0; steps < all_steps; steps++) {
        CAPTURE(steps);
        World world;
        world.start_agent();
        world.kube.put(make_pod("web"));

        world.step(steps);
        world.cut_socket();
        world.pass(seconds(1));
        world.slurm.schedule();
        world.pass(seconds(5));
        world.connect_socket();
        world.settle();

        CHECK(world.slurm.jobs().size() == 1);
        CHECK(world.slurm.job(1).job.state == JobState::running);
        CHECK(world.kube.count("bind") == 1);
        world.end_containers("web", 0);
        CHECK(world.only_job().job.state == JobState::completed);
        CHECK_FALSE(world.only_job().epilog_held);
    }
}
