// SPDX-License-Identifier: GPL-2.0-or-later
// srun in batch jobs of one node, of which there may be very many: what they
// have of it, what that costs, and what is left when something of it is
// missing.
#include "tests/unit/flows/batch_flows.h"
#include "tests/unit/flows/batch_srun_world.h"

#include "agent/batch/srun.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr int many = 100; // refusals

bool has_map(const OneSrunWorld &world)
{
    const auto &maps = world.kube.config_maps;
    return maps.size() == 1 &&
           is_srun_map(*Json::parse(maps.begin()->second), srun_program);
}

} // namespace

TEST_CASE("a job of one node has srun, and neither key, Service nor addresses")
{
    OneSrunWorld world;
    world.start_agent();

    JobRef job = world.run();

    world.check_runs(job);
    CHECK(has_map(world));
    CHECK(world.kube.services.empty());
    CHECK_FALSE(world.secret().contains("step.key"));
    Pod pod = world.pods_of(job).front();
    CHECK(world.has_program(pod));
    CHECK(world.command_of(pod) == "/bin/sh");
    CHECK_FALSE(world.kube.pod_bodies.at(pod.key).contains("sbatch-hosts"));
    CHECK(pod.annotation("slurmk8s/sbatch-srun") ==
          srun_map_name(srun_program));
    CHECK(world.file_in_secret(job, "run").contains("PATH=/slurmk8s/bin"));
}

TEST_CASE(
    "jobs of one node that come at once cost no look at the ConfigMap each")
{
    OneSrunWorld world;
    world.start_agent();
    auto looks = [&] {
        return world.kube.count("get_config_map") +
               world.kube.count("get_config_map_uid");
    };
    world.run();
    REQUIRE(looks() == 1);

    for (int i = 0; i < 3; i++)
        CHECK(world.has_program(world.pods_of(world.run()).front()));
    CHECK(looks() == 1);
    world.pass(seconds(10));
    world.run();
    world.run();
    CHECK(looks() == 2);
    world.pass(seconds(10));
    world.run();
    world.run();

    CHECK(looks() == 3);
    CHECK(world.kube.count("get_config_map") == 2); // then metadata
    CHECK(world.kube.count("create_config_map") == 1);
}

TEST_CASE(
    "a ConfigMap that is deleted between two jobs of one node is made anew")
{
    for (int pause : {0, 10}) {
        CAPTURE(pause);
        OneSrunWorld world;
        world.start_agent();
        world.run();
        world.kube.config_maps.clear();
        world.pass(seconds(pause));

        JobRef next = world.run();

        Pod pod = world.pods_of(next).front();
        CHECK(world.state(next) == JobState::running);
        CHECK(world.has_program(pod));
        CHECK(has_map(world) == (pause != 0));
        world.pass(seconds(30)); // its kubelet waits for it
        CHECK(has_map(world));
        world.run_containers(pod.key.name);
        world.pass(seconds(60)); // the first one has not started
        std::size_t looked = world.kube.count("get_config_map_uid");
        for (const Pod &one : world.kube.pods())
            world.run_containers(one.key.name);
        world.pass(seconds(300));
        CHECK(world.kube.count("get_config_map_uid") == looked);
    }
}

TEST_CASE("an agent that starts finds the ConfigMap that Pods of one node wait "
          "for gone")
{
    OneSrunWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.kill_agent();
    world.kube.config_maps.clear();

    world.start_agent();
    world.pass(seconds(30));

    CHECK(has_map(world));
    world.check_runs(job);
}

TEST_CASE("another ConfigMap of that name is soon not run by jobs of one node")
{
    OneSrunWorld world;
    world.start_agent();
    world.run();
    auto &[key, body] = *world.kube.config_maps.begin();
    body = srun_map_body(key, "evil");
    world.pass(seconds(10));

    JobRef job = world.run();
    world.pass(seconds(20));

    CHECK(world.state(job) == JobState::running);
    CHECK_FALSE(world.has_program(world.pods_of(job).front()));
    CHECK(world.no_srun_of(job).contains("does not contain this srun"));
}

TEST_CASE("an agent that is killed at any point makes one Pod with srun")
{
    check_kills_while_made<OneSrunWorld>(
        60, [](const OneSrunWorld &world, JobRef job) {
            CHECK(world.kube.count("create_config_map") == 1);
            CHECK(world.kube.count("create_pod") <= 2);
            CHECK(world.has_program(world.pods_of(job).front()));
        });
}

TEST_CASE(
    "the answer for a ConfigMap that is lost costs a job of one node time only")
{
    check_lost_answers<OneSrunWorld>(
        {"get_config_map", "create_config_map"}, 1,
        [](const OneSrunWorld &world, JobRef job) {
            CHECK(has_map(world));
            CHECK(world.has_program(world.pods_of(job).front()));
        });
}

TEST_CASE(
    "without the program a job of one node runs, and srun says what is missing")
{
    OneSrunWorld world;
    world.srun += ".not-there";
    world.start_agent();

    JobRef job = world.run();

    world.check_without(job, "static libraries");
    CHECK(world.kube.config_maps.empty());
}

TEST_CASE("without the rights a job of one node runs, and nothing is tried")
{
    OneSrunWorld world;
    world.deny("configmaps");
    world.start_agent();

    JobRef job = world.run();

    world.check_without(job, "lacks rights");
    CHECK(world.kube.count("get_config_map") == 0);
    CHECK(world.kube.count("create_config_map") == 0);
}

TEST_CASE(
    "a job on one node of another architecture runs at once, without srun")
{
    for (const char *label : {"other", ""}) {
        CAPTURE(label);
        OneSrunWorld world;
        for (Node &node : world.nodes)
            node.labels[names::arch_label] = label;
        world.start_agent();

        JobRef job = world.run();

        world.check_without(job, *label ? "kn1 is other" : "kn1 is not known");
    }
}

TEST_CASE(
    "a refusal that stays is waited for by one job of one node, not by each")
{
    OneSrunWorld world;
    world.start_agent();
    for (int i = 0; i < many; i++)
        world.kube.fail_next("create_config_map", Code::denied);
    JobRef first = world.run();
    CHECK(world.state(first) == JobState::configuring); // it may pass
    world.pass(seconds(10));
    world.check_without(first, "srun: error: this job has no srun");
    std::size_t tried = world.kube.count("create_config_map");

    JobRef next = world.run();
    CHECK(world.state(next) == JobState::running);
    CHECK(world.no_srun_of(next).contains("this job has no srun"));
    CHECK(world.kube.count("create_config_map") == tried);
    world.pass(seconds(60));
    JobRef later = world.run();

    CHECK(world.state(later) == JobState::configuring); // asked anew
    CHECK(world.kube.count("create_config_map") > tried);
}
