// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs with GRES: what their container asks for, and that it gets the
// devices of the job's indexes.
#include "agent/batch/gres.h"

#include "agent/batch/pod.h"
#include "common/base/json.h"
#include "common/contract/batch_script.h"
#include "tests/unit/flows/batch_claim_world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

const std::vector<DeviceGres> known{{"a100.example.com", "gpu", "a100"},
                                    {"gpu.example.com", "gpu", "other"},
                                    {"nics", "nic", "nics"},
                                    {"vendor.com/fpga", "fpga", "x"}};
using Devices = std::map<std::string, std::uint64_t>;

BatchJob with_gres(std::vector<JobGres> gres)
{
    BatchJob batch;
    batch.asks_gres = true;
    batch.job.nodes = {"kn1"};
    batch.job.cpus = 1;
    batch.job.gres_on = {std::move(gres)};
    return batch;
}

} // namespace

TEST_CASE("GRES are asked for as resources of the DeviceClasses behind them")
{
    struct {
        std::vector<JobGres> gres;
        Devices devices;
    } rows[] = {{{}, {}},
                {{{"gpu", "a100", 2, {0, 1}}},
                 {{"deviceclass.resource.kubernetes.io/a100.example.com", 2}}},
                {{{"gpu", "a100", 1, {0}}, {"gpu", "other", 2, {4, 5}}},
                 {{"deviceclass.resource.kubernetes.io/a100.example.com", 1},
                  {"deviceclass.resource.kubernetes.io/gpu.example.com", 2}}},
                {{{"gpu", "a100", 0, {}}, {"nic", "", 1, {0}}},
                 {{"deviceclass.resource.kubernetes.io/nics", 1}}},
                {{{"license", "", 1, {}}}, {}}}; // by --exclusive: not for Pods
    for (const auto &row : rows)
        CHECK(batch_devices(with_gres(row.gres), known).value() == row.devices);
}

TEST_CASE("GRES that no Pod gets are said, with their type")
{
    for (const JobGres &gres :
         {JobGres{"gpu", "h100", 1, {0}}, JobGres{"fpga", "x", 1, {}}}) {
        auto devices = batch_devices(with_gres({gres}), known);
        REQUIRE_FALSE(devices);
        CHECK(devices.error().code == Code::rejected);
        CHECK(devices.error().message.contains(gres.gres + ":" + gres.type));
    }
}

TEST_CASE("no Pod is made while it is not known which GRES its job was given")
{
    BatchJob batch = with_gres({});
    batch.job.gres_on.clear();
    batch.job.devices = true;
    auto devices = batch_devices(batch, known);
    REQUIRE_FALSE(devices);
    CHECK(devices.error().code == Code::busy);

    batch.asks_gres = false; // --exclusive
    CHECK(batch_devices(batch, known).value().empty());
    batch.asks_gres = true;
    batch.job.devices = false; // --gres=none
    CHECK(batch_devices(batch, known).value().empty());
    batch.job.devices = true;
    batch.job.gres_on = {{}}; // none on this node
    CHECK(batch_devices(batch, known).value().empty());
    batch.job.gres_on = {{{"craynetwork", "", 1, {}}}};
    CHECK(batch_devices(batch, known).value().empty());
}

TEST_CASE("who has asked for no GRES gets none with --exclusive")
{
    BatchJob batch = with_gres({{"gpu", "a100", 2, {0, 1}}});
    batch.asks_gres = false;

    CHECK(batch_devices(batch, known).value().empty());
    CHECK(gpu_variables(batch).empty());
}

TEST_CASE("the variables of GPUs are those of slurmd")
{
    auto variables = gpu_variables(with_gres({{"gpu", "other", 1, {5}},
                                              {"nic", "", 1, {0}},
                                              {"gpu", "a100", 2, {2, 3}}}));

    CHECK(variables == std::vector<std::string>{"SLURM_GPUS_ON_NODE=3",
                                                "SLURM_JOB_GPUS=2,3,5"});
    CHECK(gpu_variables(with_gres({{"nic", "", 1, {0}}})).empty());
    CHECK(gpu_variables(with_gres({})).empty());
}

TEST_CASE("the container asks for its devices, as request and as limit")
{
    Conf conf;
    conf.batch_namespace = "slurm-jobs";
    conf.device_gres = known;
    BatchJob batch = with_gres({{"gpu", "a100", 2, {0, 1}}});
    BatchMark mark{{7, Sluid{4711}}, std::string(32, 'a')};
    BatchScript script{.image = "busybox"};

    auto text =
        batch_pod_body(batch, script, {"alice", "staff", {}}, mark, conf);

    REQUIRE(text);
    Pod pod = pod_from(*Json::parse(*text));
    REQUIRE(pod.extended.size() == 1);
    REQUIRE(pod.extended[0].amounts.size() == 1);
    CHECK(pod.extended[0].amounts[0].count == 2);
    CHECK(pod.extended[0].amounts[0].resource ==
          "deviceclass.resource.kubernetes.io/a100.example.com");
    CHECK(pod.unfit_reasons.empty());
    batch.job.gres_on = {{{"gpu", "h100", 1, {0}}}};
    CHECK_FALSE(
        batch_pod_body(batch, script, {"alice", "staff", {}}, mark, conf));
}

TEST_CASE("a batch job gets the devices of its indexes, in one claim")
{
    BatchClaimWorld world;
    JobRef first = world.run("gres/gpu:g:1");
    JobRef second = world.run("gres/gpu:g:2");

    CHECK(world.slurm.job(first.id).job.state == JobState::running);
    CHECK(world.slurm.job(second.id).job.state == JobState::running);
    CHECK(world.kube.claims().size() == 2);
    std::string all;
    for (const ResourceClaim &claim : world.kube.claims())
        all += bridge::devices_of(claim) + ";";
    CHECK((all == "kn1/gpu-0;kn1/gpu-1 kn1/gpu-2;" ||
           all == "kn1/gpu-1 kn1/gpu-2;kn1/gpu-0;"));
    for (const Pod &pod : world.kube.pods())
        CHECK_FALSE(pod.extended_claim.empty());
}

TEST_CASE(
    "a batch job of which Slurm does not say its GRES waits, and fails at last")
{
    BatchClaimWorld world;
    JobRef job = world.slurm.plant(world.describe("gres/gpu:g:1"));
    world.slurm.give_devices(job.id);
    world.slurm.reallocate(job.id, "kn1");
    world.pass(seconds(30));
    CHECK(world.kube.count("create_pod") == 0);
    CHECK(world.slurm.job(job.id).job.state == JobState::configuring);

    world.pass(world.conf.bind_timeout + seconds(60));
    CHECK(world.status().contains(
        "Slurm does not say which GRES the job was given"));
    JobRef other = world.run("gres/gpu:g:1");
    world.pass(seconds(60));

    CHECK(world.slurm.job(other.id).job.state == JobState::running);
    CHECK(world.slurm.job(job.id).job.state == JobState::failed);
    CHECK(world.slurm.job(job.id).comment.contains(
        "which GRES the job was given"));
    CHECK(world.kube.count("create_pod") == 1);
}

TEST_CASE("a batch job whose devices cannot be had fails, with the reason")
{
    BatchClaimWorld world;
    world.conf.device_gres = {{"no.such.class", "gpu", "g"}};
    world.deliver(Reload{std::make_shared<const Conf>(world.conf)});

    JobRef job = world.run("gres/gpu:g:1");
    world.pass(world.conf.bind_timeout + seconds(60));

    CHECK(world.slurm.job(job.id).job.state == JobState::failed);
    CHECK_FALSE(world.slurm.job(job.id).comment.empty());
    CHECK(world.kube.claims().empty());
}

// The list, without details, says nothing of GRES that accounting does not
// count.
TEST_CASE("an agent that starts anew looks at which GRES a batch job has first")
{
    for (bool by_node : {true, false}) { // --gres, or --gpus-per-task
        for (int steps = 0; steps < 40; steps++) {
            CAPTURE(by_node);
            CAPTURE(steps);
            BatchClaimWorld world;
            JobDescription asked = world.describe("");
            (by_node ? asked.gres : asked.gres_per_task) = "gres/gpu:g:2";
            JobRef job = world.slurm.plant(asked);
            world.slurm.schedule();
            world.step(steps);

            world.start_agent();
            world.pass(seconds(20));

            CHECK(world.slurm.job(job.id).job.state == JobState::running);
            CHECK(world.slurm.job(job.id).comment == "");
            REQUIRE(world.kube.claims().size() == 1);
            CHECK(bridge::devices_of(world.kube.claims().front()) ==
                  "kn1/gpu-0 kn1/gpu-1");
        }
    }
}
