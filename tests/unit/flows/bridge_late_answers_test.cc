// SPDX-License-Identifier: GPL-2.0-or-later
// While it is not known which devices fit what Pods ask for, jobs stay as they
// are, and nobody else has to do with that.
#include "tests/unit/flows/answer_world.h"
#include "tests/unit/flows/claim_gang_world.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using std::chrono::seconds;

namespace {

// Nobody answers for 20 s; meanwhile the devices change, so that all answers
// are of the devices of before.
void hang_while_devices_change(World &world, seconds after = seconds(10))
{
    world.calls_hang = true;
    for (int i = 0; i < 20; i++) {
        world.now += seconds(1);
        world.deliver(Changed<ResourceSlice>{make_slice("kn1", 4 + i), false});
    }
    world.calls_hang = false;
    world.deliver(Changed<ResourceSlice>{make_slice("kn1", 4), false});
    world.pass(after);
}

struct LateGang : ClaimGangWorld {
    void put_gang(int count)
    {
        for (int i = 0; i < count; i++) {
            kube.put_claim(claim_text(name(i), request_gpus(1)));
            Pod pod =
                make_member(name(i), std::to_string(count), MilliCpu{1000});
            pod.resource_claims = {{"gpu", name(i), "", false, false}};
            kube.put(std::move(pod));
        }
    }
};

} // namespace

TEST_CASE("a gang that has nodes keeps them while answers are missing")
{
    LateGang world;
    world.put_gang(4);
    step_to_allocation(world);
    const JobRef job = world.only_job().job.ref;

    hang_while_devices_change(world);

    CHECK(world.slurm.jobs().size() == 1);
    CHECK(world.only_job().job.ref == job);
    CHECK(world.bound(4) == 4);
}

TEST_CASE("a Pod alone that has a node keeps it while answers are missing")
{
    AnswerWorld world;
    world.add_claim("c");
    world.kube.put(world.pod_with("c", "web"));
    step_to_allocation(world);
    const JobRef job = world.only_job().job.ref;

    hang_while_devices_change(world);

    CHECK(world.only_job().job.ref == job);
    CHECK(world.node_of("web") == "kn1");
    CHECK(world.devices_of("c") == "kn1/gpu-0");
}

TEST_CASE("Pods start while devices change again and again")
{
    AnswerWorld world;
    world.add_claim_that("c",
                         "device.attributes['gpu.example.com'].model == 'A'");
    world.kube.put(world.pod_with("c", "web"));
    for (int i = 0; i < 10; i++) { // before there is any answer
        world.step(2);
        world.now += seconds(1);
        world.deliver(Changed<ResourceSlice>{make_slice("kn2", 4 + i), false});
    }
    CHECK(world.node_of("web") == "kn1");
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("who waits for an answer is woken by it, and has no feature before")
{
    AnswerWorld world;
    world.change_node("kn1", [](Node &node) { node.labels["disk"] = "ssd"; });
    const PredicatePtr ssd =
        *Predicate::make({{{{"disk", false, NodeOperator::in, {"ssd"}}}}}, {});
    for (int i = 0; i < 5; i++) {
        std::string name = "c" + std::to_string(i);
        world.add_claim_that(name, std::string(endless_cel) + " && true || " +
                                       std::to_string(i) + " == 1");
    }
    for (int i = 0; i < 5; i++) {
        std::string name = "c" + std::to_string(i);
        Pod pod = world.pod_with(name, name);
        if (i == 4)
            pod.predicate = ssd;
        world.create(std::move(pod));
    }
    auto any_features = [&] {
        return std::ranges::any_of(
            world.slurm.load_nodes().value(), [](const SlurmNode &node) {
                return node.features !=
                       "k8s," + std::string(names::untainted_feature);
            });
    };
    world.pass(seconds(4));
    REQUIRE(world.said_on("c4").contains("are expensive to evaluate"));

    CHECK_FALSE(any_features());
    Pod plain = make_pod("plain");
    plain.predicate = ssd;
    world.create(std::move(plain));
    world.pass(seconds(2));
    CHECK(any_features()); // one that waits for nothing gets it
    world.pass(seconds(10));
    CHECK(world.said_on("c4").contains("too expensive"));
}

TEST_CASE("a job is not given up for the time in which answers were missing")
{
    AnswerWorld world;
    world.add_claim("c", 2);
    world.kube.put(world.pod_with("c", "web"));
    step_to_allocation(world);
    take_first_device(world, "kn1");
    world.pass(seconds(6));
    CHECK(world.slurm.jobs().size() == 1);

    hang_while_devices_change(world, seconds(3));

    SUBCASE("and the device comes back")
    {
        CHECK(world.slurm.jobs().size() == 1);
        world.kube.erase_claim({"default", "other-kn1"});
        world.pass(seconds(2));
        CHECK(world.slurm.jobs().size() == 1);
        CHECK(world.node_of("web") == "kn1");
        CHECK(world.devices_of("c") == "kn1/gpu-0 kn1/gpu-1");
    }
    SUBCASE("and the device stays away")
    {
        world.pass(seconds(4));
        CHECK(world.slurm.jobs().size() == 2);
    }
}
