// SPDX-License-Identifier: GPL-2.0-or-later
// Pods with ResourceClaims: what their jobs ask for, which devices they get,
// and when they are bound.
#include "tests/unit/flows/claim_world.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <utility>

using namespace bridge;
using std::chrono::seconds;

namespace {

using Cluster = ClaimWorld; // of two nodes

Pod with_claim(const std::string &name, const std::string &claim = "c")
{
    Pod pod = make_pod(name);
    pod.resource_claims = {{"gpu", claim, "", false, false}};
    return pod;
}

// Another scheduler has given the claim "x" this device of kn1.
void allocate_elsewhere(Cluster &world, const std::string &device)
{
    world.kube.put_claim(
        claim_text("x", request_gpus(1), "",
                   R"({"allocation":{"devices":{"results":[{
        "request":"gpu","driver":"gpu.example.com","pool":"kn1",
        "device":")" + device +
                       R"("}]}},"reservedFor":[{"resource":"pods","name":"p",
        "uid":"u"}]})"));
}

} // namespace

TEST_CASE("a Pod gets the devices that stand for its job's indexes")
{
    Cluster world;
    world.add_claim("c", 2);

    world.create(with_claim("web"));

    CHECK(world.only_job().asked.gres_per_task == "gres/gpu:g:2");
    CHECK(world.node_of("web") == "kn1");
    CHECK(devices_of(world.claim()) == "kn1/gpu-0 kn1/gpu-1");
    CHECK(world.claim().is_reserved_for("uid-web"));
    CHECK(world.claim().has_finalizer);
    world.check_runs_once();
}

TEST_CASE("two Pods get different devices")
{
    Cluster world;
    world.add_claim("c");
    world.add_claim("d");
    world.create(with_claim("web"));
    world.create(with_claim("next", "d"));

    CHECK(devices_of(world.claim("c")) == "kn1/gpu-0");
    CHECK(devices_of(world.claim("d")) == "kn1/gpu-1");
}

TEST_CASE("a Pod waits for its claim, and is woken by it")
{
    Cluster world;
    world.create(with_claim("web"));
    CHECK(world.said_on("web") == "The ResourceClaim c does not exist yet.");
    CHECK(world.slurm.count("submit") == 0);

    world.add_claim();

    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("a Pod is woken by its claim, however many claims others wait for")
{
    Cluster world;
    world.create(with_claim("web"));
    Pod many = with_claim("many", "x");
    for (int i = 0; i < 1100; i++)
        many.resource_claims.push_back(
            {std::to_string(i), "x" + std::to_string(i), "", false, false});
    world.create(many);
    world.create(with_claim("next", "y")); // by now some may be swept up
    CHECK(world.slurm.count("submit") == 0);

    world.add_claim();

    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("all devices of a node: of the Nodes that the Pod may have now")
{
    Cluster world;
    world.deliver(Changed<ResourceSlice>{make_slice("kn2", 2), false});
    world.pass(seconds(10));
    auto create = [&](const std::string &name, const std::string &claim) {
        world.kube.put_claim(claim_text(
            claim, R"("requests":[{"name":"a","exactly":{"deviceClassName":)"
                   R"("gpu.example.com","allocationMode":"All"}}])"));
        world.settle();
        world.create(with_claim(name, claim));
    };
    create("web", "c");
    CHECK(world.slurm.job(1).asked.gres_per_task == "gres/gpu:g:4");

    world.change_node("kn1", [](Node &node) {
        node.taints.push_back({"dedicated", "others", "NoSchedule"});
    });
    world.pass(seconds(10));
    create("next", "d");

    CHECK(world.slurm.job(2).asked.gres_per_task == "gres/gpu:g:2");
}

TEST_CASE("that a template's claim is not made yet is told once the Pod is old")
{
    Cluster world;
    const std::string missing =
        "The ResourceClaim gpu, from template t, has not been created yet.";
    for (bool is_new : {true, false}) {
        CAPTURE(is_new);
        Pod pod = with_claim(is_new ? "new" : "old", "");
        pod.resource_claims.at(0).from_template = "t";
        if (is_new) // by the calendar of the world's clock
            pod.created = std::chrono::ceil<seconds>(
                std::chrono::system_clock::now() + (world.now - Clock::now()));
        world.create(pod);
        world.pass(seconds(2));

        CHECK(world.said_on(pod.key.name) == (is_new ? "" : missing));
        world.pass(seconds(3));
        CHECK(world.said_on(pod.key.name) == missing);
    }
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE("without DeviceGres a Pod with claims is refused, as ever")
{
    World world;
    world.start_agent();
    world.create(with_claim("web"));

    CHECK(world.said_on("web").contains("DeviceGres"));
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE("two Pods share a claim: one job has its GRES, and both its node")
{
    Cluster world;
    world.add_claim();
    world.create(with_claim("web"));
    world.create(with_claim("next"));
    world.pass(seconds(5));

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.node_of("next") == "kn1");
    CHECK(world.claim().reserved_for.size() == 2);
    CHECK(world.slurm.job(1).asked.gres_per_task == "gres/gpu:g:1");
    CHECK(world.slurm.job(2).asked.gres_per_task == "");
    CHECK(world.slurm.count("submit") == 2);
}

TEST_CASE("a Pod follows another's devices once the watch has told of them")
{
    Cluster world;
    world.add_claim();
    auto tell = std::exchange(world.kube.on_claim, nullptr);
    world.create(with_claim("web"));
    REQUIRE(world.node_of("web") == "kn1");
    REQUIRE(world.claim().allocated);
    world.create(with_claim("next"));

    CHECK(world.slurm.count("submit") == 1);
    CHECK(world.said_on("next") ==
          "The ResourceClaim c is about to get its devices for another Pod.");

    world.kube.on_claim = tell;
    tell(world.claim(), false);
    world.pass(seconds(5));

    CHECK(world.node_of("next") == "kn1");
    CHECK(world.slurm.count("submit") == 2);
    CHECK(world.slurm.job(2).asked.gres_per_task == "");
}

TEST_CASE("the agent is killed between any two writes: one allocation")
{
    for (int steps = 1; steps < 60; steps++) {
        CAPTURE(steps);
        Cluster world;
        world.add_claim();
        world.kube.put(with_claim("web"));
        world.step(steps);
        world.start_agent();
        world.pass(seconds(5));

        CHECK(world.node_of("web") == "kn1");
        CHECK(world.claim().devices.size() == 1);
        CHECK(world.claim().reserved_for.size() == 1);
        CHECK(world.allocation_count() == 1);
    }
}

TEST_CASE("a job that is lost before the binding: the claim is given back, and "
          "allocated anew")
{
    Cluster world;
    world.add_claim();
    world.kube.fail_next("bind", Code::busy);
    world.kube.put(with_claim("web"));
    world.settle();
    REQUIRE(world.claim().allocated);
    REQUIRE(world.node_of("web").empty());

    world.slurm.set_down("kn1");
    world.pass(seconds(10));

    CHECK(world.node_of("web") == "kn2");
    CHECK(devices_of(world.claim()) == "kn2/gpu-0");
    CHECK(world.claim().reserved_for.size() == 1);
}

TEST_CASE("a device that others have is waited for, then another node is taken")
{
    Cluster world;
    allocate_elsewhere(world, "gpu-0");
    world.add_claim();
    world.create(with_claim("web"));
    world.pass(seconds(30));

    CHECK_FALSE(world.node_of("web").empty());
    CHECK(devices_of(world.claim()) != "kn1/gpu-0");
    CHECK(world.claim().devices.size() == 1);
}

TEST_CASE(
    "who gets a device of a living Pod that waits for its new job goes at "
    "once")
{
    Cluster world;
    world.add_claim("c");
    world.add_claim("d");
    world.create(with_claim("web"));
    world.run_containers("web");
    REQUIRE(devices_of(world.claim("c")) == "kn1/gpu-0");
    world.slurm.hold(2);
    world.slurm.purge(1);
    world.pass(world.conf.resync_interval + seconds(30));
    REQUIRE(world.slurm.job(2).job.state == JobState::pending);

    world.create(with_claim("next", "d"));
    REQUIRE(world.slurm.job(3).job.nodes == std::vector<std::string>{"kn1"});
    world.pass(seconds(3)); // by far less than a device is waited for

    CHECK(world.node_of("next") == "kn2");
    world.slurm.release(2);
    world.pass(seconds(10));
    CHECK(world.slurm.job(2).job.state == JobState::running);
    CHECK(devices_of(world.claim("c")) == "kn1/gpu-0");
}

TEST_CASE("what others have allocated is Slurm's again when their claim goes")
{
    Cluster world;
    auto gres = [&] { return world.slurm.node("kn1").gres; };
    REQUIRE(gres() == "gpu:g:4");
    allocate_elsewhere(world, "gpu-0");
    world.pass(seconds(10));
    CHECK(gres() == "gpu:g:3");

    world.kube.erase_claim({"default", "x"}); // allocated to the last
    world.pass(seconds(10));
    CHECK(gres() == "gpu:g:4");
}

TEST_CASE("an empty list of claims is not believed while Pods use some")
{
    Cluster world;
    auto gres = [&] { return world.slurm.node("kn1").gres; };
    auto reserved = [&](int count) {
        return world.metrics().contains(
            "slurmk8sd_resource_claims{state=\"reserved\"} " +
            std::to_string(count) + "\n");
    };
    world.add_claim();
    world.create(with_claim("web"));
    world.run_containers("web");
    REQUIRE(world.claim().is_reserved_for("uid-web"));
    allocate_elsewhere(world, "gpu-3");
    world.pass(seconds(10));
    REQUIRE(reserved(2));
    const std::string before = gres();

    world.deliver(Listed<ResourceClaim>{"", {}});
    world.pass(seconds(10));
    CHECK(gres() == before);
    CHECK(reserved(2));
    CHECK(world.status().contains("no ResourceClaim"));

    world.end_containers("web", 0); // now there may be none
    world.deliver(Listed<ResourceClaim>{"", {}});
    world.pass(seconds(10));
    CHECK(gres() == "gpu:g:4");
    CHECK(reserved(0));
    CHECK_FALSE(world.status().contains("no ResourceClaim"));
}

TEST_CASE("somebody else allocates the claim while its Pod waits in Slurm")
{
    Cluster world;
    world.add_claim();
    world.slurm.hold(1);
    world.create(with_claim("web"));
    REQUIRE(world.slurm.count("submit") == 1);
    world.kube.put_claim(claim_text("c", request_gpus(1), "",
                                    R"({"allocation":{"devices":{"results":[{
        "request":"gpu","driver":"gpu.example.com","pool":"kn2",
        "device":"gpu-3"}]},"nodeSelector":{"nodeSelectorTerms":[{
        "matchFields":[{"key":"metadata.name","operator":"In",
        "values":["kn2"]}]}]}}})"));
    world.pass(seconds(30));

    CHECK(world.node_of("web") == "kn2");
    CHECK(devices_of(world.claim()) == "kn2/gpu-3");
    CHECK(world.claim().is_reserved_for("uid-web"));
    CHECK(world.slurm.job(2).asked.gres_per_task == "");
}

TEST_CASE("a Pod whose claim goes keeps the node of its job until there is one")
{
    Cluster world;
    world.add_claim();
    world.slurm.hold(1);
    world.create(with_claim("web"));
    REQUIRE(world.slurm.count("submit") == 1);
    world.kube.erase_claim({"default", "c"});
    world.slurm.release(1);
    world.pass(seconds(60)); // longer than for a device that others have
    REQUIRE(world.node_of("web").empty());

    world.add_claim();

    CHECK(world.node_of("web") == "kn1");
    CHECK(devices_of(world.claim()) == "kn1/gpu-0");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("what the API server refuses leads to another node")
{
    Cluster world;
    world.add_claim();
    world.kube.fail_next("write_claim_status", Code::rejected);
    world.create(with_claim("web"));
    world.pass(seconds(10));

    CHECK(world.node_of("web") == "kn2");
    CHECK(devices_of(world.claim()) == "kn2/gpu-0");
}

TEST_CASE("of claims of which one is refused the others keep their devices")
{
    Cluster world;
    for (const char *name : {"a", "b", "c"})
        world.add_claim(name);
    world.kube.on_claim = [](const ResourceClaim &, bool) {}; // nothing is told
    world.kube.lose_reply("write_claim_status"); // of a, which it does
    world.kube.fail_next("write_claim_status", Code::rejected);
    Pod pod = with_claim("web", "a");
    pod.resource_claims.push_back({"more", "b", "", false, false});
    world.create(pod);
    REQUIRE(world.devices_of("a") == "kn1/gpu-0");
    REQUIRE(world.devices_of("b").empty());
    world.pass(seconds(5));
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);

    world.create(with_claim("next"));
    world.pass(seconds(40));
    CHECK(!world.devices_of().empty());
    CHECK(world.devices_of() != world.devices_of("a"));
}

TEST_CASE("a Pod that is unlike what its devices can be waits with a sentence")
{
    Cluster world;
    world.kube.put_claim(
        claim_text("c", request_gpus(1) + R"(,"constraints":[{"x":1}])"));
    world.create(with_claim("web"));

    CHECK(world.said_on("web").contains("constraint of an unknown kind"));
    CHECK(world.slurm.count("submit") == 0);
}
