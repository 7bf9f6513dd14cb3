// SPDX-License-Identifier: GPL-2.0-or-later
// srun in batch jobs of several nodes: how the Pod of the script is told where
// all Pods are.
#include "tests/unit/flows/batch_srun_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE(
    "the Pod of the script is told where all are once all have an address")
{
    SrunWorld world;
    world.start_agent();
    JobRef job = world.run_all();
    std::vector<Pod> pods = world.pods_of(job);
    world.give_address(pods[0], "10.0.0.1");
    world.give_address(pods[2], "10.0.0.3");

    world.pass(seconds(10));
    CHECK(world.all_say(job, ""));
    world.give_address(pods[1], "10.0.0.2");
    world.pass(seconds(60));

    CHECK(world.all_say(job, three_hosts));
    std::size_t asked = world.kube.count("addresses_of");
    CHECK(asked < 10);
    world.pass(seconds(60));
    CHECK(world.kube.count("addresses_of") == asked);
}

TEST_CASE("no Pod is told before all containers have started")
{
    SrunWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.give_addresses(job);
    world.run_containers(world.name_of(0));
    world.run_containers(world.name_of(1));

    world.pass(seconds(5));
    CHECK(world.all_say(job, ""));
    world.run_containers(world.name_of(2));

    CHECK(world.all_say(job, three_hosts));
}

TEST_CASE("the Pod of the script is told once, also by the next agent")
{
    SrunWorld world;
    world.start_agent();
    JobRef job = world.run_all();
    world.give_addresses(job);
    world.pass(seconds(5));
    REQUIRE(world.all_say(job, three_hosts));
    std::size_t asked = world.kube.count("addresses_of");

    world.start_agent();
    world.pass(seconds(60));

    CHECK(world.kube.count("addresses_of") == asked);
    CHECK(world.kube.count("stamp") == 1);
}

TEST_CASE("nobody asks for the addresses of a job without srun")
{
    SrunWorld world;
    world.srun += ".not-there";
    world.start_agent();
    JobRef job = world.run_all();
    world.give_addresses(job);

    world.pass(seconds(60));

    CHECK(world.all_say(job, ""));
    CHECK(world.kube.count("addresses_of") == 0);
}

TEST_CASE("addresses that cannot be written are written later, and less and "
          "less often")
{
    for (const char *what : {"addresses_of", "stamp"}) {
        CAPTURE(what);
        SrunWorld world;
        world.start_agent();
        JobRef job = world.run_all();
        world.give_addresses(job);
        for (int i = 0; i < 12; i++)
            world.kube.fail_next(what, Code::busy);
        std::size_t before = world.kube.count("addresses_of");

        world.pass(seconds(60));
        CHECK(world.kube.count("addresses_of") - before < 8);
        world.pass(seconds(900));

        CHECK(world.all_say(job, three_hosts));
    }
}

TEST_CASE(
    "an agent that is killed while it tells where the Pods are tells it again")
{
    for (int steps = 0; steps < 40; steps++) {
        CAPTURE(steps);
        SrunWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.give_addresses(job);
        for (const Pod &pod : world.pods_of(job))
            world.kube.change(pod.key, [](Pod &p) {
                p.phase = "Running";
                p.started = true;
            });
        world.step(steps);

        world.start_agent();
        world.pass(seconds(5));

        CHECK(world.all_say(job, three_hosts));
    }
}
