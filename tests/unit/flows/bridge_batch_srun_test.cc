// SPDX-License-Identifier: GPL-2.0-or-later
// srun in batch jobs of several nodes: what the agent makes for it beside the
// Pods.
#include "tests/unit/flows/batch_srun_world.h"

#include "agent/batch/srun.h"
#include "common/base/hexadecimal.h"
#include "common/kube/base64.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE("the ConfigMap with srun is made once, and looked at for each job")
{
    SrunWorld world;
    world.start_agent();

    world.run();
    world.run();

    REQUIRE(world.kube.config_maps.size() == 1);
    CHECK(is_srun_map(*Json::parse(world.kube.config_maps.begin()->second),
                      srun_program));
    CHECK(world.kube.count("create_config_map") == 1);
    CHECK(world.kube.count("get_config_map") == 2);
    world.start_agent();
    JobRef job = world.submit(2);
    world.pass(seconds(5));
    CHECK(world.pods_of(job).size() == 2);
    CHECK(world.kube.count("create_config_map") == 1);
    CHECK(world.kube.count("get_config_map") == 3);
}

TEST_CASE("a ConfigMap that somebody has deleted is made anew for the next job")
{
    SrunWorld world;
    world.start_agent();
    world.run();
    world.kube.config_maps.clear();

    JobRef next = world.run();

    REQUIRE(world.kube.config_maps.size() == 1);
    CHECK(is_srun_map(*Json::parse(world.kube.config_maps.begin()->second),
                      srun_program));
    CHECK(world.has_program(world.pods_of(next).front()));
}

TEST_CASE("a ConfigMap that is deleted while Pods wait for it is made anew")
{
    for (bool same : {true, false}) {
        CAPTURE(same);
        SrunWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.kube.config_maps.clear();
        if (!same) // a newer package; the Pods name what was there before
            std::ofstream(world.srun) << "a newer program";

        world.pass(seconds(30));

        CHECK(world.kube.config_maps.size() == (same ? 1 : 0));
        for (const Pod &pod : world.pods_of(job))
            world.run_containers(pod.key.name);
        world.give_addresses(job);
        world.pass(seconds(5));
        CHECK(world.all_say(job, three_hosts)); // at once
        std::size_t looked = world.kube.count("get_config_map");
        world.pass(seconds(300));
        CHECK(world.kube.count("get_config_map") == looked);
    }
}

TEST_CASE("of a ConfigMap that was looked at only the metadata is read again")
{
    SrunWorld world;
    world.start_agent();
    world.run();
    world.run(); // who has made it knows no uid
    REQUIRE(world.kube.count("get_config_map") == 2);
    CHECK(world.kube.count("get_config_map_uid") == 0);

    world.run();
    world.run();

    CHECK(world.kube.count("get_config_map") == 2);
    CHECK(world.kube.count("get_config_map_uid") == 2);
}

TEST_CASE("a ConfigMap that was made anew with something else is never run")
{
    SrunWorld world;
    world.start_agent();
    world.run();
    world.run();
    auto &[key, body] = *world.kube.config_maps.begin();
    body = srun_map_body(key, "evil"); // another object, and another uid

    JobRef job = world.run();
    world.pass(seconds(20));

    CHECK_FALSE(world.has_program(world.pods_of(job).front()));
    CHECK(world.no_srun_of(job).contains("does not contain this srun"));
}

TEST_CASE("the key of a job is its own, and in its Secret alone")
{
    SrunWorld world;
    world.start_agent();
    JobRef one = world.run(), other = world.run();
    std::string key = world.key_of(one);

    CHECK(is_hexadecimal(key, 64));
    CHECK(key != world.key_of(other));
    for (const auto *all : {&world.kube.pod_bodies, &world.kube.services,
                            &world.kube.config_maps})
        for (const auto &[name, body] : *all) {
            CHECK_FALSE(body.contains(key));
            CHECK_FALSE(body.contains(base64(key)));
        }
    for (const Pod &pod : world.pods_of(one))
        CHECK(world.has_program(pod));
}

TEST_CASE("a job of several nodes has a Service that its second Pod owns")
{
    SrunWorld world;
    world.start_agent();

    JobRef job = world.run();

    std::vector<Pod> pods = world.pods_of(job);
    REQUIRE(world.kube.services.size() == 1);
    CHECK(world.kube.services.begin()->first == pods[0].key);
    Json service = *Json::parse(world.kube.services.begin()->second);
    CHECK(is_service_of(service, pods[1]));
    CHECK(service.text("metadata/ownerReferences/0/name") == pods[1].key.name);
}

TEST_CASE("a Pod on a node of another architecture gets no program")
{
    for (std::uint32_t rank : {0u, 1u}) {
        for (const char *label : {"other", ""}) {
            CAPTURE(rank);
            CAPTURE(label);
            SrunWorld world;
            world.nodes[rank].labels[names::arch_label] = label;
            world.start_agent();

            JobRef job = world.run();
            world.pass(seconds(20)); // it may be known later

            world.check_runs(job);
            for (const Pod &pod : world.pods_of(job))
                CHECK(world.has_program(pod) ==
                      (batch_place(pod)->rank != rank));
            CHECK(world.command_of(world.pod_of(1)) ==
                  (rank == 1 ? "/bin/sh" : "/slurmk8s/bin/srun"));
            CHECK(world.no_srun_of(job).contains("kn1 is") == (rank == 0));
        }
    }
}
