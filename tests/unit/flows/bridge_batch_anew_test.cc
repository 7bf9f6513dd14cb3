// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs of several nodes that slurmctld, after a crash, has placed anew,
// or of which it has lost the job while the agent was killed; and those that
// wait for each other under a quota.
#include "tests/unit/flows/batch_anew_world.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

using Nodes = AnewWorld::Nodes;

const std::vector<std::pair<Nodes, Nodes>> moves{
    {{"kn1", "kn2"}, {"kn2", "kn3"}}, {{"kn1", "kn2"}, {"kn1"}},
    {{"kn1", "kn2"}, {"kn3"}},        {{"kn1", "kn2", "kn3"}, {"kn1", "kn2"}},
    {{"kn1"}, {"kn1", "kn2"}},        {{"kn1", "kn2"}, {"kn1", "kn2", "kn3"}}};

} // namespace

TEST_CASE(
    "Pods that no tag names yet are made anew where their job has other nodes")
{
    for (const auto &[before, after] : moves) {
        CAPTURE(before.size());
        CAPTURE(after.size());
        AnewWorld world;
        world.start_agent();
        world.slurm.fail_always("set_tag", Code::busy);
        JobRef job = world.submit_on(before);
        world.settle();
        REQUIRE(world.kube.pods().size() == before.size());

        world.slurm.heal("set_tag");
        world.crash_to(job, after, false);
        world.pass(seconds(20));

        world.check_runs_on(job, after);
        CHECK(world.kube.count("delete_pod") == 0); // which asks for no version
    }
}

TEST_CASE("Pods that wait, and that the tag names, are made anew likewise")
{
    for (bool keeps_tag : {true, false}) { // else the agent knows it still
        for (const auto &[before, after] : moves) {
            CAPTURE(keeps_tag);
            CAPTURE(before.size());
            CAPTURE(after.size());
            AnewWorld world;
            world.start_agent();
            world.kube.fail_next("bind", Code::busy);
            JobRef job = world.submit_on(before);
            world.settle();
            REQUIRE_FALSE(world.record(job).job.tag.uid.empty());
            REQUIRE(world.kube.pods().size() == before.size());

            world.crash_to(job, after, keeps_tag);
            world.pass(seconds(40));

            world.check_runs_on(job, after);
            CHECK(world.record(job).comment.empty());
        }
    }
}

TEST_CASE("an agent that is killed while Pods are made anew makes them once")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        AnewWorld world;
        world.start_agent();
        world.kube.fail_next("bind", Code::busy);
        JobRef job = world.submit_on({"kn1", "kn2"});
        world.settle();
        world.crash_to(job, {"kn2", "kn3"}, true);
        world.step(steps);

        world.start_agent();
        world.pass(seconds(30));

        world.check_runs_on(job, {"kn2", "kn3"});
    }
}

TEST_CASE("a worker that was bound before its job was placed anew goes")
{
    for (const Nodes &after :
         {Nodes{"kn2", "kn3"}, {"kn1", "kn3"}, {"kn3", "kn1"}, {"kn3"}}) {
        CAPTURE(after.size());
        CAPTURE(after.front());
        AnewWorld world;
        world.start_agent();
        JobRef job = world.submit_on({"kn1", "kn2"});
        while (world.kube.count("bind") == 0)
            world.step(1);
        world.kube.fail_next("bind", Code::busy);
        world.settle();
        REQUIRE(world.pod_of(1).bound());
        REQUIRE_FALSE(world.pod_of(0).bound());
        std::string worker = world.name_of(1);

        world.crash_to(job, after, true);
        world.settle();
        CHECK(world.pod_of(1).deleting);
        world.end_containers(worker, 143); // its kubelet says so first
        world.pass(seconds(5));
        world.finish_deletion(worker);
        world.pass(seconds(60));

        world.check_runs_on(job, after);
        CHECK(world.slurm.count("submit") == 0);
    }
}

TEST_CASE(
    "a worker that goes is waited for where its job has the same node again")
{
    const Nodes after{"kn1", "kn2", "kn4"};
    AnewWorld world;
    world.nodes.push_back(make_node("kn4"));
    world.start_agent();
    JobRef job = world.submit_half_bound();
    std::vector<std::string> workers{world.name_of(1), world.name_of(2)};

    world.crash_to(job, after, true);
    world.settle();
    world.pass(seconds(30)); // their kubelets take their time
    CHECK(world.record(job).job.state == JobState::configuring);
    for (const std::string &worker : workers) {
        CHECK(world.pod(worker)->deleting);
        world.finish_deletion(worker);
    }
    world.pass(seconds(60));

    world.check_runs_on(job, after);
    CHECK(world.record(job).comment.empty());
}

TEST_CASE("a Pod that is being deleted for ever fails its job, which says so")
{
    AnewWorld world;
    world.nodes.push_back(make_node("kn4"));
    world.start_agent();
    JobRef job = world.submit_half_bound();
    std::string worker = world.name_of(1);
    world.crash_to(job, {"kn1", "kn2", "kn4"}, true);
    world.settle();
    world.finish_deletion(world.name_of(2));

    world.pass(world.conf.bind_timeout + seconds(60));
    CHECK(world.record(job).job.state == JobState::configuring);
    CHECK(world.status().contains(worker + " is being deleted"));
    world.submit(1); // others' Pods can be made
    world.slurm.schedule();
    world.pass(seconds(60));

    CHECK(world.record(job).job.state == JobState::failed);
    CHECK(world.record(job).comment.contains(worker + " is being deleted"));
}

TEST_CASE("an agent that is killed while Pods are adopted one by one ends none "
          "of them")
{
    for (bool same_nodes : {true, false}) {
        for (int steps = 0; steps < 60; steps++) {
            CAPTURE(same_nodes);
            CAPTURE(steps);
            AnewWorld world;
            world.nodes.push_back(make_node("kn4"));
            world.start_agent();
            JobRef job = world.submit_on({"kn1", "kn2", "kn3"});
            world.settle();
            for (const Pod &pod : world.kube.pods())
                world.run_containers(pod.key.name);
            world.cut_socket();
            world.slurm.unallocate(job.id);
            world.connect_socket();
            world.step(steps);

            // slurmctld has it on nodes again while nobody looks.
            if (!is_ended(world.record(job).job.state))
                world.slurm.reallocate(job.id,
                                       same_nodes ? Nodes{"kn1", "kn2", "kn3"}
                                                  : Nodes{"kn2", "kn3", "kn4"});
            world.start_agent();
            world.pass(seconds(60));

            for (std::uint32_t rank : {0u, 1u, 2u}) {
                CHECK(world.pod_of(rank).living());
                CHECK_FALSE(told_to_end(world.pod_of(rank)));
            }
            world.end_containers(world.name_of(0), 0);
            world.pass(seconds(20));
            CHECK(world.slurm.living().empty());
        }
    }
}

TEST_CASE("Pods that run go on where slurmctld gives their job more nodes")
{
    for (bool keeps_tag : {true, false}) {
        for (const Nodes &after : {Nodes{"kn1", "kn2", "kn3"},
                                   {"kn1", "kn2", "kn3", "kn4"},
                                   {"kn4", "kn1", "kn2"},
                                   {"kn2", "kn3", "kn4"}}) {
            CAPTURE(keeps_tag);
            CAPTURE(after.size());
            CAPTURE(after.front());
            AnewWorld world;
            world.nodes.push_back(make_node("kn4"));
            world.start_agent();
            JobRef job = world.submit_on({"kn1", "kn2"});
            world.settle();
            for (const Pod &pod : world.kube.pods())
                world.run_containers(pod.key.name);

            world.crash_to(job, after, keeps_tag);
            world.pass(seconds(60));

            for (std::uint32_t rank : {0u, 1u}) {
                CHECK(world.pod_of(rank).living());
                CHECK_FALSE(told_to_end(world.pod_of(rank)));
            }
            CHECK(world.kube.pods().size() == 2);
            if (std::ranges::contains(after, "kn1")) { // all are on its nodes
                CHECK(world.record(job).job.state == JobState::running);
                CHECK(world.slurm.jobs().size() == 1);
            }
            world.end_containers(world.name_of(0), 0);
            world.pass(seconds(60));
            CHECK(world.slurm.living().empty());
        }
    }
}

TEST_CASE("a Pod that is missing ends a job that has more nodes now, too")
{
    AnewWorld world;
    world.start_agent();
    JobRef job = world.submit_on({"kn1", "kn2"});
    world.settle();
    for (const Pod &pod : world.kube.pods())
        world.run_containers(pod.key.name);
    world.crash_to(job, {"kn1", "kn2", "kn3"}, true);
    world.pass(seconds(20));
    REQUIRE(world.record(job).job.state == JobState::running);
    std::string worker = world.name_of(1);

    world.delete_as_user(worker);
    world.finish_deletion(worker);

    CHECK(world.record(job).job.state == JobState::failed);
    CHECK(told_to_end(world.pod_of(0)));
}

TEST_CASE("the Pod of the script is bound last")
{
    AnewWorld world;
    world.start_agent();
    world.kube.fail_next("bind", Code::busy); // of a worker

    JobRef job = world.submit_on({"kn1", "kn2", "kn3"});
    world.settle();
    CHECK_FALSE(world.pod_of(0).bound());
    world.pass(seconds(5));

    world.check_runs_on(job, {"kn1", "kn2", "kn3"});
    std::vector<std::string> bound;
    for (const FakeKube::Call &call : world.kube.calls())
        if (call.what == "bind")
            bound.push_back(call.key.name);
    REQUIRE_FALSE(bound.empty());
    CHECK(bound.back() == world.name_of(0));
    CHECK(std::ranges::count(bound, world.name_of(0)) == 1);
}

TEST_CASE("jobs of which a quota has room for one do not wait for each other "
          "for ever")
{
    AnewWorld world;
    world.conf.bind_timeout = std::chrono::hours(1); // else the second fails
    world.start_agent();
    world.kube.pod_quota = 1;
    JobRef one = world.submit_on({"kn1", "kn2"});
    world.settle();
    world.kube.pod_quota = 2;
    JobRef other = world.submit_on({"kn1", "kn2"}); // there is room
    world.settle();
    REQUIRE(world.kube.pods().size() == 2); // one of each
    auto state = [&](JobRef job) { return world.record(job).job.state; };
    REQUIRE(state(one) == JobState::configuring);
    REQUIRE(state(other) == JobState::configuring);

    world.pass(seconds(200));

    CHECK((state(one) == JobState::running) !=
          (state(other) == JobState::running));
    CHECK(world.living() == 2);
    JobRef first = state(one) == JobState::running ? one : other;
    JobRef second = first == one ? other : one;
    CHECK(state(second) == JobState::configuring);
    std::vector<std::string> over;
    for (const Pod &pod : world.kube.pods())
        if (batch_mark(pod)->job == first)
            over.push_back(pod.key.name);
    REQUIRE(over.size() == 2);
    world.slurm.scancel(first.id);
    world.settle();
    for (const std::string &name : over)
        world.kube.erase({"default", name});

    world.pass(seconds(600));
    CHECK(state(second) == JobState::running);
    CHECK(world.living() == 2);
}

// Where some of a job's Pods are bound nothing is given back, whatever is full.
TEST_CASE("a quota that is full later takes no Pod from a job that has them")
{
    AnewWorld world;
    world.start_agent();
    JobRef job = world.submit_on({"kn1", "kn2"});
    world.settle();
    world.kube.pod_quota = 1;

    world.pass(seconds(600));

    world.check_runs_on(job, {"kn1", "kn2"});
}
