// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs that slurmctld, after a crash, places anew while the agent is at
// it: between any two of its calls.
#include "tests/unit/flows/batch_anew_world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

using Nodes = AnewWorld::Nodes;

const std::vector<std::pair<Nodes, Nodes>> moves{
    {{"kn1"}, {"kn2"}},
    {{"kn1"}, {"kn1", "kn2"}},
    {{"kn1", "kn2"}, {"kn3"}},
    {{"kn1", "kn2"}, {"kn2", "kn3"}},
    {{"kn1", "kn2", "kn3"}, {"kn2", "kn1"}}};

bool is_bound_there(const AnewWorld &world, const Nodes &nodes)
{
    auto calls = world.kube.calls();
    return std::ranges::all_of(calls, [&](const FakeKube::Call &call) {
        return call.what != "bind" || std::ranges::contains(nodes, call.detail);
    });
}

} // namespace

TEST_CASE("nobody binds a batch job's Pods where slurmctld went away since")
{
    for (bool keeps_tag : {true, false}) {
        for (const auto &[before, after] : moves) {
            CAPTURE(keeps_tag);
            CAPTURE(before.size());
            CAPTURE(after.size());
            AnewWorld world;
            world.start_agent();
            JobRef job = world.submit_and_hang(before);
            world.crash_to(job, after, keeps_tag);
            world.settle();

            world.calls_hang = false;
            world.pass(seconds(60));

            CHECK(is_bound_there(world, after));
            world.check_runs_on(job, after);
            CHECK(world.record(job).comment.empty());
        }
    }
}

TEST_CASE("Pods are bound once slurmctld is back with their job as it was")
{
    for (const Nodes &nodes : {Nodes{"kn1"}, {"kn1", "kn2", "kn3"}}) {
        CAPTURE(nodes.size());
        AnewWorld world;
        world.start_agent();
        JobRef job = world.submit_and_hang(nodes);
        world.cut_socket();
        world.settle();
        world.slurm.answers = false;
        world.calls_hang = false;

        // Away for longer than a Pod that cannot be bound may be.
        world.pass(world.conf.bind_timeout + seconds(60));
        CHECK(world.kube.count("bind") == 0);
        world.slurm.answers = true;
        world.connect_socket();
        world.pass(seconds(60));

        world.check_runs_on(job, nodes);
        CHECK(world.kube.count("bind") == nodes.size());
        CHECK(world.kube.count("put_secret") == 1);
        CHECK(world.record(job).comment.empty());
    }
}

// What is bound when slurmctld crashes goes on where it is: other tests.
TEST_CASE(
    "a job that is placed anew between any two calls is told where it runs")
{
    for (bool keeps_tag : {true, false}) {
        for (const auto &[before, after] : moves) {
            for (int steps = 0; steps < 60; steps++) {
                CAPTURE(keeps_tag);
                CAPTURE(before.size());
                CAPTURE(after.size());
                CAPTURE(steps);
                AnewWorld world;
                world.start_agent();
                JobRef job = world.submit_on(before);
                world.step(steps);
                if (world.kube.count("bind") != 0)
                    break;
                world.calls_hang = true; // until the agent has heard of it
                world.settle();
                world.crash_to(job, after, keeps_tag);
                world.settle();
                world.calls_hang = false;
                world.pass(seconds(60));

                CHECK(is_bound_there(world, after));
                world.check_runs_on(job, after);
            }
        }
    }
}

// The tag is then written on a job that has other nodes.
TEST_CASE(
    "a job that is placed anew while its Pods are made is told where it runs")
{
    enum class Trouble {
        none,
        killed,    // once that tag is written: what the agent knew is gone
        no_answer, // the tag is read before it is known to be written
    };
    for (Trouble trouble :
         {Trouble::none, Trouble::killed, Trouble::no_answer}) {
        for (const auto &[before, after] : moves) {
            CAPTURE(static_cast<int>(trouble));
            CAPTURE(before.size());
            CAPTURE(after.size());
            AnewWorld world;
            world.start_agent();
            if (trouble == Trouble::no_answer)
                world.slurm.lose_reply("set_tag");
            JobRef job = world.submit_on(before);

            world.crash_while_made(job, after);
            if (trouble == Trouble::killed) {
                while (world.slurm.count("set_tag") == 0)
                    world.step(1);
                world.start_agent();
            }
            world.pass(seconds(60));

            if (trouble == Trouble::none)
                CHECK(world.slurm.count("set_tag") >
                      1); // that one is taken back
            CHECK(is_bound_there(world, after));
            world.check_runs_on(job, after);
        }
    }
}

TEST_CASE("a job with all of its node gets a Pod of that size where it is "
          "placed anew")
{
    for (bool keeps_tag : {true, false}) {
        for (std::int64_t cpus : {4, 32}) {
            CAPTURE(keeps_tag);
            CAPTURE(cpus);
            AnewWorld world;
            world.nodes = {make_node("kn1", 16), make_node("kn2", cpus)};
            world.start_agent();
            world.kube.fail_next("bind", Code::busy);
            JobRef job = world.scheduled(world.submit_exclusive());
            REQUIRE(world.record(job).job.cpus == 16);
            REQUIRE(world.kube.pods().size() == 1);

            world.crash_to(job, {"kn2"}, keeps_tag);
            world.pass(seconds(60));

            CHECK(world.record(job).job.cpus == cpus);
            world.check_runs_on(job, {"kn2"});
            CHECK(world.record(job).comment.empty());
        }
    }
}

TEST_CASE("a job that waits again is told where it runs when it has a node")
{
    struct Case {
        bool keeps_tag;
        bool says_node; // else an earlier agent made its Pod
        const char *node;
    };
    for (auto [keeps_tag, says_node, node] : {Case{true, true, "kn2"},
                                              {false, true, "kn2"},
                                              {true, true, "kn1"},
                                              {true, false, "kn2"},
                                              {false, false, "kn2"}}) {
        CAPTURE(keeps_tag);
        CAPTURE(says_node);
        CAPTURE(node);
        AnewWorld world;
        world.start_agent();
        world.kube.fail_next("bind", Code::busy);
        JobRef job = world.submit_on({"kn1"});
        world.settle();
        if (!says_node)
            world.forget_place();
        world.slurm.hold(job.id);
        world.cut_socket();
        if (keeps_tag)
            world.slurm.unallocate(job.id);
        else
            world.slurm.forget_allocation(job.id);
        world.connect_socket();
        world.pass(seconds(30));
        CHECK(world.record(job).job.tag.uid.empty());
        REQUIRE(world.kube.pods().size() == 1);
        std::string uid = world.kube.pods().front().uid;

        world.slurm.reallocate(job.id, node);
        world.pass(seconds(30));

        world.check_runs_on(job, {node});
        bool fits = !says_node || node == std::string("kn1");
        CHECK((world.kube.pods().front().uid == uid) == fits);
        CHECK(world.kube.count("put_secret") ==
              2); // it says more than the node
    }
}

TEST_CASE("a tag that cannot be taken back is taken back later")
{
    AnewWorld world;
    world.start_agent();
    world.kube.fail_next("bind", Code::busy);
    JobRef job = world.submit_on({"kn1"});
    world.settle();
    world.slurm.fail_always("set_tag", Code::busy);
    world.crash_to(job, {"kn2"}, true);
    world.pass(seconds(20));
    CHECK(world.kube.count("bind") == 1);

    world.slurm.heal("set_tag");
    world.pass(seconds(60));

    world.check_runs_on(job, {"kn2"});
}

TEST_CASE(
    "no worker is deleted where the script may run, though no watch shows it")
{
    for (const char *what : {"bound", "another", "no answer"}) {
        CAPTURE(what);
        AnewWorld world;
        world.nodes.push_back(make_node("kn4"));
        world.start_agent();
        JobRef job = world.submit_half_bound();
        world.watch_pods = false;
        ObjectKey script{"default", world.name_of(0)};
        Pod now = *world.kube.find(script);
        if (what == std::string("bound"))
            now.node_name = "kn1";
        else if (what == std::string("another"))
            now.uid = "another";
        else
            for (int i = 0; i < 100; i++)
                world.kube.fail_next("get_pod", Code::busy);
        world.kube.put(now);

        world.crash_to(job, {"kn1", "kn3", "kn4"}, true);
        world.pass(seconds(30));

        CHECK(world.kube.count("delete_pod") == 0);
        CHECK(world.kube.count("delete_unbound") == 0);
        CHECK(world.pod_of(1).living());
        CHECK(world.pod_of(2).living());
        CHECK_FALSE(told_to_end(world.pod_of(1)));
    }
}

TEST_CASE("a script that was over unseen when its job was placed anew is not "
          "run again")
{
    AnewWorld world;
    world.nodes.push_back(make_node("kn4"));
    world.start_agent();
    JobRef job = world.submit_half_bound();
    world.watch_pods = false;
    world.kube.change({"default", world.name_of(0)}, [](Pod &pod) {
        pod.node_name = "kn1";
        pod.phase = "Succeeded";
        pod.containers = {{"main", true, 0, 0, "Completed"}};
    });

    world.crash_to(job, {"kn1", "kn3", "kn4"}, true);
    world.pass(seconds(30));

    CHECK(world.record(job).job.state == JobState::completed);
    CHECK(world.slurm.count("set_tag") == 1); // it kept its Pods
    CHECK(world.kube.count("create_pod") == 3);
}

TEST_CASE("workers are deleted where the script's Pod waits, or is gone")
{
    for (bool gone : {true, false}) {
        CAPTURE(gone);
        AnewWorld world;
        world.nodes.push_back(make_node("kn4"));
        world.start_agent();
        JobRef job = world.submit_half_bound();
        world.watch_pods = false;
        std::string worker = world.name_of(1);
        if (gone)
            world.kube.erase({"default", world.name_of(0)});

        world.crash_to(job, {"kn1", "kn3", "kn4"}, true);
        world.settle();

        CHECK(world.pod(worker)->deleting);
    }
}
