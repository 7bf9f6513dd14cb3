// SPDX-License-Identifier: GPL-2.0-or-later
// Gangs whose Pods have extended resources: a claim for each, made when all
// have a seat, and taken back together.
#include "agent/gres/extended_claim.h"
#include "tests/unit/flows/claim_gang_world.h"

#include <doctest/doctest.h>
#include <set>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr char gpu[] = "example.com/gpu";

struct Train : ClaimGangWorld {
    using ClaimGangWorld::ClaimGangWorld;

    static Pod member(int i, int size, std::int64_t count,
                      const std::string &resource = gpu)
    {
        Pod pod = make_member(name(i), std::to_string(size));
        pod.extended = {{"main", 0, false, {{resource, count, 0}}}};
        pod.owner = {"batch/v1", "Job", "steps", "uid-steps"};
        return pod;
    }
    void put_gang(int count, std::int64_t devices)
    {
        for (int i = 0; i < count; i++)
            kube.put(member(i, count, devices));
    }
    ResourceClaim claim_of(int i) const
    {
        auto known = pod(name(i));
        return known ? claim(extended_claim_key(*known).name) : ResourceClaim{};
    }
    void check_ready(int count) const
    {
        for (int i = 0; i < count; i++) {
            CHECK(claim_of(i).allocated);
            CHECK(pod(name(i))->extended_claim == claim_of(i).key.name);
        }
    }
    // Each Pod has the claim that its status names, of so many devices of its
    // node that no other has.
    void check_devices(int count, std::size_t devices) const
    {
        std::set<DeviceId> all;
        for (int i = 0; i < count; i++) {
            CAPTURE(i);
            ResourceClaim one = claim_of(i);
            check_claim(i, one, devices, all);
            CHECK(pod(name(i))->extended_claim == one.key.name);
        }
        CHECK(kube.claims().size() == static_cast<std::size_t>(count));
    }
};

} // namespace

TEST_CASE("extended resources of a gang: a claim for each Pod, one job")
{
    Train world;
    world.put_gang(4, 2);
    world.settle();

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:2");
    CHECK(world.only_job().asked.tasks == 4);
    CHECK(world.bound(4) == 4);
    world.check_devices(4, 2);
    CHECK(world.kube.count("create_claim") == 4);
    CHECK(world.kube.count("set_extended_claim") == 4);
    CHECK(world.slurm.starts == 1);
}

TEST_CASE("no Pod of a gang is bound before all statuses name their claims")
{
    check_bound_when_all_are_ready<Train>();
}

TEST_CASE("the agent is killed at any step: each Pod of a gang has one claim")
{
    check_kills_while_bound<Train>([](const Train &) {});
}

TEST_CASE("a gang whose job is lost before the binding makes its claims anew")
{
    Train world;
    for (int i = 0; i < 2; i++)
        world.kube.fail_next("bind", Code::rejected);
    world.put_gang(2, 2);
    world.settle();
    REQUIRE(world.claim_of(1).allocated);
    std::string uid = world.claim_of(1).uid;
    REQUIRE(world.bound(2) == 0);

    world.slurm.set_down("kn1");
    world.pass(seconds(15));

    CHECK(world.node_of("t-0") == "kn2");
    CHECK(world.claim_of(1).uid != uid);
    world.check_devices(2, 2);
}

TEST_CASE("a gang whose job is cancelled before the binding leaves no claim")
{
    Train world;
    for (int i = 0; i < 1000; i++)
        world.kube.fail_next("bind", Code::busy);
    world.put_gang(2, 2);
    world.settle();
    REQUIRE(world.claim_of(0).allocated);
    world.slurm.scancel(1);
    world.pass(seconds(10));

    CHECK(world.pod("t-0")->phase == "Failed");
    CHECK(world.pod("t-1")->phase == "Failed");
    CHECK(world.kube.claims().empty());
}

TEST_CASE("without the feature gate no claim of a gang stays")
{
    Train world;
    world.kube.keeps_extended = false;
    world.put_gang(2, 2);
    world.pass(seconds(10));

    CHECK(world.bound(2) == 0);
    CHECK(world.kube.claims().empty());
    CHECK(world.allocation_count() == 0);
    CHECK(world.said_on("t-0").contains("DRAExtendedResource"));
}

TEST_CASE("a gang is kept off a Node whose device plugins offer the resource")
{
    Train world;
    world.change_node("kn1",
                      [](Node &node) { node.allocatable.others[gpu] = 4; });
    world.put_gang(2, 2);
    world.pass(seconds(15));

    CHECK(world.node_of("t-0") == "kn2");
    CHECK(world.node_of("t-1") == "kn2");
    world.check_devices(2, 2);
}

TEST_CASE("a resource without a DeviceClass, of one Pod of a gang, is refused")
{
    Train world;
    world.kube.put(Train::member(0, 2, 1));
    world.create(Train::member(1, 2, 1, "example.com/other"));

    CHECK(world.said_on("t-0").contains(
        "Pod t-1: the resource example.com/other is not supported"));
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE("claims of their own and extended resources, in one gang")
{
    Train world;
    world.kube.put_claim(claim_text("c", request_gpus(2)));
    world.kube.put(Train::member(0, 2, 1));
    Pod other = make_member("t-1", "2");
    other.owner = {"batch/v1", "Job", "steps", "uid-steps"};
    other.resource_claims = {{"gpu", "c", "", false, false}};
    world.create(other);

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:2");
    CHECK(world.bound(2) == 2);
    CHECK(world.claim_of(0).devices.size() == 1);
    CHECK(world.claim("c").devices.size() == 2);
    CHECK(world.pod("t-1")->extended_claim == "");
}

TEST_CASE("a Pod that names the claim of another's extended resources waits")
{
    Train world;
    Pod first = Train::member(0, 2, 2);
    Pod second = make_member("t-1", "2");
    second.owner = {"batch/v1", "Job", "steps", "uid-steps"};
    second.resource_claims = {
        {"gpu", extended_claim_key(first).name, "", false, false}};
    world.kube.put(first);
    world.create(second);
    world.pass(seconds(5));

    CHECK(world.bound(2) == 0); // for what is made at the binding
    CHECK(world.pod("t-1")->extended_claim == "");
    CHECK(world.slurm.count("submit") == 0);
}
