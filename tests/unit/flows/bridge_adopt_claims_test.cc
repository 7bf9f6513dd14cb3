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
