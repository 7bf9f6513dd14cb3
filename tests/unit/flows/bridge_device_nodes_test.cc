// SPDX-License-Identifier: GPL-2.0-or-later
// Claims that only some Nodes' devices satisfy: the first job goes there, and
// Pods say what they wait for.
#include "tests/unit/flows/claim_world.h"

#include <doctest/doctest.h>
#include <memory>
#include <utility>

using namespace bridge;
using std::chrono::seconds;

namespace {

std::string of_model(const std::string &model, const std::string &more = "")
{
    return R"("requests":[)" +
           exactly("gpu", 1,
                   R"(,"selectors":[{"cel":{"expression":)"
                   R"("device.attributes['gpu.example.com'].model == ')" +
                       model + R"('"}}])" + more) +
           "]";
}

ResourceSlice slice_of(const std::string &node, const std::string &model)
{
    ResourceSlice made = make_slice(node);
    for (DevicePtr &device : made.devices) {
        Device other = *device;
        other.attributes["model"] = model;
        device = std::make_shared<const Device>(std::move(other));
    }
    return made;
}

// Two nodes with devices of model A, and kn3 with devices of model B.
struct Mixed : ClaimWorld {
    Mixed() : ClaimWorld(3)
    {
        for (const char *name : {"kn1", "kn2"})
            publish(slice_of(name, "A"));
        publish(slice_of("kn3", "B"));
        pass(seconds(10));
    }

    void publish(const ResourceSlice &made)
    {
        for (ResourceSlice &slice : resource_slices)
            if (slice.name == made.name)
                slice = made;
        deliver(Changed<ResourceSlice>{made, false});
    }
    void put_claim(const std::string &spec)
    {
        kube.put_claim(claim_text("c", spec));
        settle();
    }
    void create_with_claim(const std::string &name = "web")
    {
        Pod pod = make_pod(name);
        pod.resource_claims = {{"gpu", "c", "", false, false}};
        create(pod);
        pass(seconds(2)); // for the features
    }
    bool has_feature(const std::string &node, const std::string &feature)
    {
        return ("," + slurm.node(node).features + ",")
            .contains("," + feature + ",");
    }
};

} // namespace

TEST_CASE("the first job of a Pod goes to the node whose devices fit")
{
    Mixed world;
    world.put_claim(of_model("B"));
    world.create_with_claim();

    CHECK(world.node_of("web") == "kn3");
    CHECK(world.devices_of() == "kn3/gpu-0");
    CHECK(world.slurm.count("submit") == 1);
    world.check_runs_once();
}

TEST_CASE("the same with adminAccess, for which Slurm is asked for no GRES")
{
    Mixed world;
    for (Namespace &ns : world.namespaces)
        ns.labels["resource.kubernetes.io/admin-access"] = "true";
    world.start_agent();
    world.pass(seconds(5));
    world.put_claim(of_model("B", R"(,"adminAccess":true)"));
    world.create_with_claim();

    CHECK(world.node_of("web") == "kn3");
    CHECK(world.only_job().asked.gres_per_task == "");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a claim that any device satisfies costs no feature")
{
    Mixed world;
    std::string before = world.slurm.node("kn3").features;
    world.put_claim(request_gpus(1));
    world.create_with_claim();

    CHECK(world.slurm.count("submit") == 1);
    CHECK(world.slurm.node("kn3").features == before);
}

TEST_CASE("devices that no node has together cost no job, until one has them")
{
    Mixed world;
    for (const char *name : {"kn1", "kn2", "kn3"})
        world.publish(make_slice(name)); // two of each model
    world.pass(seconds(1));              // which are looked at once a second
    world.put_claim(
        request_gpus(3) +
        R"(,"constraints":[{"matchAttribute":"gpu.example.com/model"}])");
    world.create_with_claim();
    world.pass(seconds(60));

    CHECK(world.said_on("web") ==
          "No Node that the Pod may have has devices that satisfy the "
          "ResourceClaim c (request gpu: 3 devices of DeviceClass "
          "gpu.example.com): it waits for one.");
    CHECK(world.slurm.count("submit") == 0);

    world.publish(slice_of("kn2", "B"));
    world.pass(seconds(20));
    CHECK(world.node_of("web") == "kn2");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("more devices than any node has are told by their number")
{
    Mixed world;
    world.put_claim(request_gpus(5));
    world.create_with_claim();

    CHECK(world.said_on("web") ==
          "The ResourceClaim c gets no devices: request gpu asks for 5 devices "
          "of DeviceClass gpu.example.com, and the node that has most of them "
          "has 4.");
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE("a job that waits keeps its features when the driver is away")
{
    Mixed world;
    world.put_claim(of_model("B"));
    world.slurm.hold(1);
    world.create_with_claim();
    REQUIRE(world.only_job().job.state == JobState::pending);
    std::string asked = world.only_job().asked.features;
    std::string feature = asked.substr(asked.rfind('&') + 1);
    REQUIRE(world.has_feature("kn3", feature));

    world.deliver(Changed<ResourceSlice>{slice_of("kn3", "B"), true});
    world.pass(seconds(20));

    CHECK(world.has_feature("kn3", feature));
    world.publish(slice_of("kn3", "B"));
    world.slurm.release(1);
    world.pass(seconds(10));
    CHECK(world.node_of("web") == "kn3");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a job that waits is not given up when devices of other kinds appear")
{
    ClaimWorld world(1);
    world.deliver(Changed<ResourceSlice>{make_slice("kn1", 2), false});
    world.pass(seconds(10)); // all devices are of model A
    world.kube.put_claim(claim_text("c", of_model("A")));
    world.settle();
    world.slurm.hold(1);
    Pod pod = make_pod("web");
    pod.resource_claims = {{"gpu", "c", "", false, false}};
    world.create(pod);
    REQUIRE(world.slurm.count("submit") == 1);

    world.deliver(Changed<ResourceSlice>{make_slice("kn1", 4), false});
    world.pass(seconds(30));

    CHECK(world.slurm.count("submit") == 1);
    CHECK(world.slurm.job(1).job.state == JobState::pending);
}

TEST_CASE("between a job that was given up and the next one the Pod says why")
{
    ClaimWorld world(3);
    world.add_claim();
    Pod pod = make_pod("web");
    pod.resource_claims = {{"gpu", "c", "", false, false}};
    world.kube.fail_next("write_claim_status", Code::rejected);
    world.create(pod);
    world.kube.fail_next("write_claim_status", Code::rejected);
    world.pass(seconds(1));
    REQUIRE(world.slurm.job(2).job.state == JobState::cancelled);

    std::string said = world.said_on("web");
    CAPTURE(said);
    CHECK(said.starts_with("Slurm job 2 had node kn2, which does not suit the "
                           "Pod: "));
    CHECK(said.ends_with("Another job is requested in 2 s."));
    world.pass(seconds(5));
    CHECK(world.node_of("web") == "kn3");
}

TEST_CASE("a claim that was deleted is told as such")
{
    ClaimWorld world;
    world.add_claim();
    world.kube.erase_claim({"default", "c"});
    Pod pod = make_pod("web");
    pod.resource_claims = {{"gpu", "c", "", false, false}};
    world.create(pod);
    CHECK(world.said_on("web") ==
          "The ResourceClaim c was deleted: the Pod waits until there is one "
          "of that name again.");

    world.add_claim();
    CHECK(world.node_of("web") == "kn1");
}
