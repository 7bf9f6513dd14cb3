// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that share a device: whole flows.
#include "tests/unit/fakes/world.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <utility>

using namespace bridge;
using std::chrono::seconds;

namespace {

// kn1 has s0 and s1, of 40Gi each, of which shares of whole Gi are given.
struct Shares : World {
    Shares()
    {
        conf.capacity_gres = {
            {"gpu.example.com", "memory", "mem", *Quantity::parse("1Gi")}};
        conf.resize_delay = seconds(1);
        conf.node_interval = seconds(1);
        slurm.gres_types = {"gpu", "mem"};
        device_classes = {make_class()};
        nodes = {make_node("kn1")};
        std::string device =
            R"({"name":"NAME","allowMultipleAllocations":true,"capacity":{
            "memory":{"value":"40Gi","requestPolicy":{"default":"1Gi",
            "validRange":{"min":"1Gi","step":"1Gi"}}}}})";
        std::string other = device;
        device.replace(device.find("NAME"), 4, "s0");
        other.replace(other.find("NAME"), 4, "s1");
        resource_slices = {resource_slice_from(json_of(
            R"({"metadata":{"name":"kn1-gpu"},"spec":{"driver":"gpu.example.com",
            "nodeName":"kn1","pool":{"name":"kn1","generation":1,
            "resourceSliceCount":1},"devices":[)" +
            device + "," + other + "]}}"))};
        start_agent();
        pass(seconds(5)); // until the node has its GRES
    }

    // A Pod that wants a share of so much.
    void make(const std::string &name, const std::string &memory)
    {
        kube.put_claim(claim_text(
            "of-" + name, R"("requests":[)" +
                              exactly("part", 1,
                                      R"(,"capacity":{"requests":{"memory":")" +
                                          memory + R"("}})") +
                              "]"));
        Pod pod = make_pod(name);
        pod.resource_claims = {{"gpu", "of-" + name, "", false, false}};
        create(pod);
    }
    ResourceClaim claim_of(const std::string &name) const
    {
        for (const ResourceClaim &one : kube.claims())
            if (one.key.name == "of-" + name)
                return one;
        return {};
    }
    // "kn1/s0 20Gi"; "": it has none.
    std::string share_of(const std::string &name) const
    {
        ResourceClaim claim = claim_of(name);
        if (claim.devices.empty() || claim.consumed.empty())
            return devices_of(claim);
        return devices_of(claim) + " " +
               claim.consumed.begin()->second.at("memory").text();
    }
    // With its claim, as kube-controller-manager frees it.
    void end(const std::string &name)
    {
        end_containers(name, 0);
        kube.erase_claim({"default", "of-" + name});
        settle();
    }
};

} // namespace

TEST_CASE("Pods share a device, and Slurm counts what they consume of it")
{
    Shares world;
    CHECK(world.slurm.node("kn1").gres == "mem:80");
    world.make("a", "19500Mi");
    world.make("b", "20Gi");
    world.make("c", "40Gi");

    CHECK(world.slurm.job(1).asked.gres_per_task == "gres/mem:20");
    CHECK(world.share_of("a") == "kn1/s0 20Gi"); // 19500Mi, rounded up
    CHECK(world.share_of("b") == "kn1/s0 20Gi");
    CHECK(world.share_of("c") == "kn1/s1 40Gi");
    CHECK(world.claim_of("a").in_shares.size() == 1);
    CHECK(world.node_of("c") == "kn1");
    CHECK(!world.status().contains("several ResourceClaims"));

    world.make("d", "1Gi"); // there is none left
    world.pass(seconds(5));
    CHECK(world.node_of("d") == "");
    CHECK(world.slurm.job(4).job.state == JobState::pending);
    world.run_containers("a");
    world.end("a");
    world.pass(seconds(5));
    CHECK(world.share_of("d") == "kn1/s0 1Gi");
}

TEST_CASE("a Pod is adopted with its share once a sync has counted devices")
{
    Shares world;
    world.make("a", "20Gi");
    world.run_containers("a");
    world.restart_without_jobs();
    world.pass(seconds(5));
    world.calls_hang = true; // a sync that began before
    world.list_devices();
    world.list_claims();
    world.calls_hang = false;
    world.pass(seconds(10));

    CHECK(world.slurm.count("submit") == 2);
    CHECK(world.only_job().asked.gres_per_task == "gres/mem:20");
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("a Pod is adopted with no more than its node still counts in Slurm")
{
    Shares world;
    world.make("a", "20Gi");
    world.run_containers("a");
    world.cut_socket();
    world.slurm.purge(world.only_job().job.ref.id);
    world.slurm.sbatch(1); // it keeps the node from being recreated
    world.slurm.schedule();
    std::string asked;
    SUBCASE("nothing")
    {
        world.slurm.lose_gres("kn1");
    }
    SUBCASE("a part")
    {
        world.slurm.lose_gres("kn1", "mem:10");
        asked = "gres/mem:10";
    }
    world.connect_socket();
    world.pass(seconds(10));

    REQUIRE(world.slurm.living().size() == 2);
    CHECK(world.slurm.living().back().asked.gres_per_task == asked);
    CHECK(world.slurm.living().back().job.state == JobState::running);
}

TEST_CASE("where no device has room although both together have, the job goes")
{
    Shares world;
    world.make("a", "30Gi");
    world.make("b", "30Gi");
    CHECK(world.share_of("b") == "kn1/s1 30Gi");
    world.make("c", "20Gi");
    world.pass(seconds(5));
    CHECK(world.slurm.job(3).job.state == JobState::configuring);
    CHECK(world.node_of("c") == "");
    world.pass(seconds(10));
    CHECK(world.slurm.job(3).job.state == JobState::cancelled);
    CHECK(world.share_of("c") == "");
    world.run_containers("b");
    world.end("b");
    world.pass(seconds(130)); // the node is excluded for two minutes
    CHECK(world.share_of("c") == "kn1/s1 20Gi");
}

TEST_CASE("the agent is killed between any two writes: each share once")
{
    for (int steps = 1; steps < 60; steps += 2) {
        CAPTURE(steps);
        Shares world;
        world.make("a", "30Gi");
        world.kube.put_claim(claim_text(
            "of-b",
            R"("requests":[)" +
                exactly("part", 1,
                        R"(,"capacity":{"requests":{"memory":"20Gi"}})") +
                "]"));
        Pod pod = make_pod("b");
        pod.resource_claims = {{"gpu", "of-b", "", false, false}};
        world.kube.put(pod);
        world.step(steps);
        world.start_agent();
        world.pass(seconds(5));

        CHECK(world.node_of("b") == "kn1");
        CHECK(world.share_of("b") == "kn1/s1 20Gi");
        CHECK(world.claim_of("b").reserved_for.size() == 1);
        CHECK(world.share_of("a") == "kn1/s0 30Gi");
    }
}

TEST_CASE(
    "a share is taken while its write is on the way, however long that is")
{
    Shares world;
    bool slow = true;
    world.kube.before_claim_write = [&](const ObjectKey &key) {
        if (key.name != "of-a" || !std::exchange(slow, false))
            return;
        world.pass(ClaimStore::hold_time + seconds(10));
        world.make("b", "20Gi");
        CHECK(world.share_of("b") == "kn1/s1 20Gi");
    };
    world.make("a", "30Gi");

    CHECK(!slow);
    CHECK(world.share_of("a") == "kn1/s0 30Gi");
    CHECK(world.node_of("a") == "kn1");
    CHECK(!world.status().contains("use more of device"));
}

TEST_CASE("what others have of a device is not Slurm's to give")
{
    Shares world;
    auto share = [](const std::string &memory) {
        return R"({"allocation":{"devices":{"results":[{"request":"part","driver":
            "gpu.example.com","pool":"kn1","device":"s0","shareID":
            "8f4474d0-b89b-4660-ae22-ba4ddc3c74ff","consumedCapacity":{
            "memory":")" +
               memory + R"("}}]}},"reservedFor":[{"resource":"pods","name":"p",
            "uid":"u"}]})";
    };
    world.kube.put_claim(claim_text("x", request_gpus(1), "", share("30Gi")));
    world.pass(seconds(10));

    CHECK(world.slurm.node("kn1").gres == "mem:50");
    world.make("a", "20Gi");
    CHECK(world.share_of("a") == "kn1/s1 20Gi");
    CHECK(!world.status().contains("use more of device"));
    world.kube.put_claim(claim_text("y", request_gpus(1), "", share("30Gi")));
    world.pass(seconds(10));
    CHECK(world.status().contains("ResourceClaims use more of device "
                                  "gpu.example.com/kn1/s0 than its memory"));
}
