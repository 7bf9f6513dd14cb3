// SPDX-License-Identifier: GPL-2.0-or-later
// Gangs whose Pods have ResourceClaims: one job with devices for all of them.
#include "tests/unit/flows/claim_gang_world.h"

#include <doctest/doctest.h>
#include <set>

using namespace bridge;
using std::chrono::seconds;

namespace {

std::string claim_name(int i)
{
    return "c-" + std::to_string(i);
}

struct Train : ClaimGangWorld {
    using ClaimGangWorld::ClaimGangWorld;

    // Pod t-0 … with claim c-0 … of so many devices.
    static Pod member(int i, int size, const std::string &claim,
                      const std::string &least = {})
    {
        Pod pod =
            make_member(name(i), std::to_string(size), MilliCpu{1000}, least);
        pod.resource_claims = {{"gpu", claim, "", false, false}};
        pod.owner = {"batch/v1", "Job", "steps", "uid-steps"};
        return pod;
    }
    void put_members(int from, int to, int size, int devices,
                     const std::string &least = {})
    {
        for (int i = from; i < to; i++)
            kube.put_claim(claim_text(claim_name(i), request_gpus(devices)));
        for (int i = from; i < to; i++)
            kube.put(member(i, size, claim_name(i), least));
    }
    void put_gang(int count, int devices)
    {
        put_members(0, count, count, devices);
    }
    void create_members(int count, int devices)
    {
        put_gang(count, devices);
        settle();
    }
    int allocated() const
    {
        int sum = 0;
        for (const ResourceClaim &one : kube.claims())
            sum += one.allocated;
        return sum;
    }
    void check_ready(int count) const { CHECK(allocated() == count); }
    // Each claim has so many devices, on its Pod's node, and nobody else's.
    void check_devices(int count, std::size_t devices) const
    {
        std::set<DeviceId> all;
        for (int i = 0; i < count; i++) {
            CAPTURE(i);
            ResourceClaim one = claim(claim_name(i));
            check_claim(i, one, devices, all);
            CHECK(one.has_finalizer);
        }
    }
};

} // namespace

TEST_CASE("the Pods of a gang share what its job has on their node")
{
    Train world;
    world.create_members(4, 2);

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:2");
    CHECK(world.only_job().asked.tasks == 4);
    CHECK(world.devices_of("c-0") == "kn1/gpu-0 kn1/gpu-1");
    CHECK(world.devices_of("c-1") == "kn1/gpu-2 kn1/gpu-3");
    CHECK(world.devices_of("c-2") == "kn2/gpu-0 kn2/gpu-1");
    CHECK(world.devices_of("c-3") == "kn2/gpu-2 kn2/gpu-3");
    world.check_devices(4, 2);
    CHECK(world.slurm.starts == 1);
    CHECK(world.kube.count("write_claim_status") == 4);
}

TEST_CASE("no Pod of a gang is bound before all have their devices")
{
    check_bound_when_all_are_ready<Train>();
}

TEST_CASE("the agent is killed at any step: each Pod has devices of its own")
{
    check_kills_while_bound<Train>([](const Train &world) {
        CHECK(world.slurm.living().at(0).job.state == JobState::running);
    });
}

TEST_CASE("writes of claims that fail are tried again, nobody is bound before")
{
    Train world;
    world.kube.fail_next("write_claim_status", Code::busy);
    world.kube.lose_reply("write_claim_status");
    world.create_members(4, 2);
    CHECK(world.bound(4) == 0);
    world.pass(seconds(10));

    CHECK(world.bound(4) == 4);
    CHECK(world.slurm.jobs().size() == 1);
    world.check_devices(4, 2);
}

TEST_CASE("a claim that the API server refuses leads to other nodes, for all")
{
    Train world;
    world.kube.fail_next("write_claim_status", Code::rejected);
    world.create_members(2, 2);
    CHECK(world.bound(2) == 0);
    world.pass(seconds(10));

    CHECK(world.node_of("t-0") == "kn2");
    CHECK(world.node_of("t-1") == "kn2");
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    world.check_devices(2, 2);
}

TEST_CASE("a node whose devices will not do is left out, before any is bound")
{
    Train world(3);
    world.add_claim("x");
    Pod other = make_pod("other");
    other.resource_claims = {{"gpu", "x", "", false, false}};
    world.create(other);
    REQUIRE(world.devices_of("x") == "kn1/gpu-0");
    // What is left there are one of model A and two of B.
    for (int i = 0; i < 3; i++)
        world.kube.put_claim(
            claim_text(claim_name(i),
                       request_gpus(2) + R"(,"constraints":[{"matchAttribute":)"
                                         R"("gpu.example.com/model"}])"));
    for (int i = 0; i < 3; i++)
        world.create(Train::member(i, 3, claim_name(i)));
    CHECK(world.slurm.job(2).job.nodes.front() == "kn1");
    CHECK(world.kube.count("bind") == 1); // that of the other Pod
    world.pass(seconds(20));

    CHECK(world.slurm.job(3).job.nodes ==
          std::vector<std::string>{"kn2", "kn3"});
    CHECK(world.bound(3) == 3);
    world.check_devices(3, 2);
}

TEST_CASE("a job that is lost before the binding: all claims are given back")
{
    Train world;
    for (int i = 0; i < 2; i++)
        world.kube.fail_next("bind", Code::rejected);
    world.create_members(2, 2);
    REQUIRE(world.allocated() == 2);
    REQUIRE(world.bound(2) == 0);

    world.slurm.set_down("kn1");
    world.pass(seconds(15));

    CHECK(world.node_of("t-0") == "kn2");
    world.check_devices(2, 2);
}

TEST_CASE("a gang that lost a Pod before the binding keeps no devices")
{
    Train world;
    for (int i = 0; i < 1000; i++)
        world.kube.fail_next("bind", Code::rejected);
    world.create_members(2, 2);
    REQUIRE(world.allocated() == 2);

    world.delete_as_user("t-1");
    world.kube.erase_claim({"default", "c-1"}); // as its controller does
    world.pass(seconds(5));

    CHECK(world.allocated() == 0);
    CHECK(world.allocation_count() == 0);
    CHECK(world.said_on("t-0") == "1 of 2 Pods of gang train exist.");
}

TEST_CASE("a Pod made again gets the devices of the seat that it takes")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        Train world;
        world.create_members(4, 2);
        world.run_all(4);
        world.end_containers("t-1", 1);
        world.kube.put_claim(claim_text("c-7", request_gpus(2)));
        world.create(Train::member(7, 4, "c-7"));
        world.pass(seconds(2));
        CHECK(world.node_of("t-7") == ""); // its devices are in the old claim
        world.kube.erase_claim({"default", "c-1"});
        if (steps > 0) { // the agent is killed meanwhile
            world.step(steps);
            world.start_agent();
        }
        world.pass(seconds(5));

        CHECK(world.node_of("t-7") == "kn1");
        CHECK(world.devices_of("c-7") == "kn1/gpu-2 kn1/gpu-3");
        CHECK(world.slurm.jobs().size() == 1);
        CHECK(world.only_job().job.state == JobState::running);
        CHECK(world.pod("t-7")->annotation(names::rank_annotation) == "1");
    }
}

TEST_CASE("Pods that come late get devices that nobody has")
{
    for (int steps = 1; steps < 60; steps += 3) {
        CAPTURE(steps);
        Train world;
        world.put_members(0, 2, 4, 2, "2");
        world.settle();
        REQUIRE(world.bound(2) == 2);
        CHECK(world.only_job().asked.tasks == 4);

        world.put_members(2, 4, 4, 2, "2");
        world.step(steps);
        world.start_agent();
        world.pass(seconds(5));

        CHECK(world.bound(4) == 4);
        CHECK(world.slurm.jobs().size() == 1);
        world.check_devices(4, 2);
    }
}

TEST_CASE("a late Pod is seated where the devices are that it has already")
{
    Train world;
    world.put_members(0, 1, 4, 2, "1");
    world.settle();
    REQUIRE(world.bound(1) == 1);
    world.kube.fail_next("bind", Code::rejected);
    world.put_members(3, 4, 4, 2, "1");
    world.settle();
    REQUIRE(world.devices_of("c-3") == "kn1/gpu-2 kn1/gpu-3");
    REQUIRE(world.node_of("t-3") == "");

    world.put_members(1, 3, 4, 2, "1"); // before it in rank
    world.start_agent();
    world.pass(seconds(10));

    CHECK(world.bound(4) == 4);
    CHECK(world.node_of("t-3") == "kn1");
    CHECK(world.devices_of("c-3") == "kn1/gpu-2 kn1/gpu-3");
    world.check_devices(4, 2);
}

TEST_CASE(
    "when a gang's job is lost its Pods are adopted with their devices, once "
    "these are listed")
{
    Train world;
    world.create_members(4, 2);
    world.run_all(4);
    world.restart_without_jobs();
    world.pass(seconds(10));
    CHECK(world.slurm.count("submit") == 1);

    world.list_devices();
    world.list_claims();
    world.pass(seconds(20));
    REQUIRE(world.slurm.living().size() == 4);
    for (const auto &record : world.slurm.living()) {
        CHECK(record.asked.gres_per_task == "gres/gpu:g:2");
        CHECK(record.job.state == JobState::running);
    }
    CHECK(world.slurm.count("submit") == 5);
    world.check_devices(4, 2);
}

TEST_CASE("Pods of unequal claims have tasks of the largest")
{
    Train world;
    world.kube.put_claim(claim_text("c-0", request_gpus(3)));
    world.kube.put_claim(claim_text("c-1", request_gpus(1)));
    for (int i = 0; i < 2; i++)
        world.create(Train::member(i, 2, claim_name(i)));

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:3");
    CHECK(world.devices_of("c-0") == "kn1/gpu-0 kn1/gpu-1 kn1/gpu-2");
    CHECK(world.devices_of("c-1") == "kn2/gpu-0");
}

TEST_CASE("a Pod of a gang may have no claims")
{
    Train world;
    world.kube.put_claim(claim_text("c-1", request_gpus(2)));
    Pod driver = Train::member(0, 2, "");
    driver.resource_claims.clear();
    world.create(driver);
    world.create(Train::member(1, 2, "c-1"));

    CHECK(world.bound(2) == 2);
    CHECK(world.devices_of("c-1") == "kn1/gpu-0 kn1/gpu-1");
}

TEST_CASE("a late Pod that asks for more devices than a task has waits")
{
    Train world;
    world.put_members(0, 2, 3, 1, "2");
    world.settle();
    REQUIRE(world.bound(2) == 2);
    world.put_members(2, 3, 3, 2, "2");
    world.settle();
    world.pass(seconds(30));

    CHECK(world.node_of("t-2") == "");
    CHECK(world.said_on("t-2").contains("a task of it has gres/gpu:g:1"));
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("a claim that several Pods of a gang share is refused")
{
    Train world;
    world.add_claim("c");
    for (int i = 0; i < 2; i++)
        world.create(Train::member(i, 2, "c"));

    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.said_on("t-1").contains("share the ResourceClaim c"));
}

TEST_CASE("a gang waits for the claims of all its Pods")
{
    Train world;
    world.kube.put_claim(claim_text("c-0", request_gpus(2)));
    for (int i = 0; i < 2; i++)
        world.create(Train::member(i, 2, claim_name(i)));
    world.pass(seconds(2));
    CHECK(world.said_on("t-0") ==
          "Pod t-1: The ResourceClaim c-1 does not exist yet.");
    CHECK(world.slurm.count("submit") == 0);

    world.add_claim("c-1", 2);
    world.pass(seconds(2));
    CHECK(world.bound(2) == 2);
}

TEST_CASE("scancel of a gang with claims ends its Pods")
{
    Train world;
    world.create_members(4, 2);
    world.run_all(4);
    world.slurm.scancel(1);
    world.settle();

    CHECK(world.kube.count("expire_pod") == 4);
}
