// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that live with devices and whose job Slurm has lost, when an agent
// starts that does not know these devices yet.
#include "tests/unit/flows/claim_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

// The Pod "web" runs with two devices.
struct Living : ClaimWorld {
    Living()
    {
        add_claim("c", 2);
        Pod pod = make_pod("web");
        pod.resource_claims = {{"gpu", "c", "", false, false}};
        create(pod);
        run_containers("web");
        REQUIRE(slurm.count("submit") == 1);
        REQUIRE(devices_of() == "kn1/gpu-0 kn1/gpu-1");
    }

    void check_adopted_with(const std::string &gres)
    {
        pass(seconds(10));
        CHECK(slurm.count("submit") == 2);
        CHECK(only_job().asked.gres_per_task == gres);
        CHECK(only_job().job.state == JobState::running);
        CHECK(only_job().job.nodes == std::vector<std::string>{"kn1"});
        CHECK(devices_of() == "kn1/gpu-0 kn1/gpu-1");
        CHECK(pod("web")->phase == "Running");
    }
};

} // namespace

TEST_CASE("a Pod is adopted with its devices, once these are listed")
{
    Living world;
    world.restart_without_jobs();
    world.pass(seconds(5));
    CHECK(world.slurm.count("submit") == 1);

    SUBCASE("its claims last")
    {
        world.list_devices();
        world.pass(seconds(5));
        CHECK(world.slurm.count("submit") == 1);
        world.list_claims();
    }
    SUBCASE("its claims first")
    {
        world.list_claims();
        world.pass(seconds(5));
        CHECK(world.slurm.count("submit") == 1);
        world.list_devices();
    }
    world.check_adopted_with("gres/gpu:g:2");
}

TEST_CASE("an agent that may not know devices adopts once it has heard so")
{
    Access access;
    Living world;
    world.access = &access;
    world.restart_without_jobs();
    world.pass(seconds(10));
    CHECK(world.slurm.count("submit") == 1);

    access.set(
        {{{Feature::devices, "list", "resource.k8s.io", "resourceclaims"}}});
    world.deliver(AccessNews{});
    CHECK(world.slurm.count("submit") == 2);
    world.check_adopted_with("");
}

TEST_CASE("a Pod whose devices are never listed is adopted all the same")
{
    Access access;
    Living world;
    SUBCASE("nobody lists them") {}
    SUBCASE("nobody says whether they may be")
    {
        world.access = &access;
    }
    world.restart_without_jobs();
    world.pass(seconds(25));
    CHECK(world.slurm.count("submit") == 1);

    world.pass(seconds(10));
    world.check_adopted_with("");
}

// slurmctld was killed before it saved the job, and the node with its GRES.
TEST_CASE(
    "a Pod is adopted without the devices that its node has lost in Slurm")
{
    Living world;
    world.cut_socket();
    world.slurm.purge(world.only_job().job.ref.id);
    JobRef other = world.slurm.sbatch(1); // it starts on kn1
    world.slurm.schedule();
    SUBCASE("all of them")
    {
        world.slurm.lose_gres("kn1");
        world.connect_socket();
        world.pass(seconds(10));
        REQUIRE(world.slurm.living().size() == 2);
        CHECK(world.slurm.living().back().asked.gres_per_task == "");
    }
    SUBCASE("some of them")
    {
        world.slurm.lose_gres("kn1", "gpu:g:1");
        world.connect_socket();
        world.pass(seconds(10));
        REQUIRE(world.slurm.living().size() == 2);
        CHECK(world.slurm.living().back().asked.gres_per_task ==
              "gres/gpu:g:1");
    }
    CHECK(world.slurm.living().back().job.state == JobState::running);
    CHECK(world.devices_of() == "kn1/gpu-0 kn1/gpu-1");
    CHECK(world.status().contains("Slurm does not count devices"));

    world.slurm.scancel(other.id);
    world.pass(seconds(10));
    CHECK(world.slurm.node("kn1").gres != "gpu:g:4"); // its job is there
    world.end_containers("web", 0);
    world.pass(seconds(10));
    CHECK(world.slurm.node("kn1").gres == "gpu:g:4");
    CHECK(!world.status().contains("Slurm does not count devices"));
}

TEST_CASE("a Pod is adopted with the devices of a node that is recreated first")
{
    Living world;
    world.conf.resize_delay = seconds(3600);
    world.start_agent();
    world.pass(seconds(10));
    world.cut_socket();
    world.slurm.purge(world.only_job().job.ref.id);
    world.slurm.lose_gres("kn1");
    world.connect_socket();

    world.check_adopted_with("gres/gpu:g:2");
    CHECK(world.slurm.node("kn1").gres == "gpu:g:4");
}

TEST_CASE("a Pod without devices waits for no list of them")
{
    Living world;
    world.create("plain");
    world.run_containers("plain");
    world.restart_without_jobs();
    world.pass(seconds(10));

    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living().front().job.tag.gang == "default/plain");
    CHECK(world.slurm.living().front().job.state == JobState::running);
}
