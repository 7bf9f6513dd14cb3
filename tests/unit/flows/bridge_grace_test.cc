// SPDX-License-Identifier: GPL-2.0-or-later
// How long containers have after the end of their job, and what their node is
// worth meanwhile.
#include "tests/unit/fakes/world.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <optional>

using namespace bridge;
using std::chrono::seconds;

namespace {

struct SlowWorld : World {
    SlowWorld()
    {
        conf.max_grace_period = seconds(3600); // so that slow Pods get a job
    }
    // An administrator sets MaxGracePeriod, or takes the line away.
    void set_most(std::optional<seconds> most)
    {
        conf.max_grace_period = most;
        deliver(Reload{std::make_shared<const Conf>(conf)});
        settle();
    }
    // A Pod with that grace period, which runs.
    void run(const std::string &name, seconds grace)
    {
        Pod pod = make_pod(name);
        pod.grace_period = grace;
        create(pod);
        run_containers(name);
    }
    // The grace periods of all deletions that the agent asked for.
    std::vector<std::string> deletions() const
    {
        std::vector<std::string> graces;
        for (const FakeKube::Call &call : kube.calls())
            if (call.what == "delete_pod")
                graces.push_back(call.detail);
        return graces;
    }
    void force_delete(const std::string &name)
    {
        kube.change({"default", name}, [](Pod &pod) {
            pod.deleting = true;
            pod.deletion_grace = seconds(0);
        });
        kube.vanish({"default", name});
        settle();
    }
};

} // namespace

TEST_CASE("a grace period that is longer than allowed gets no job")
{
    SlowWorld world;
    world.conf.max_grace_period.reset();
    world.slurm.grace_times.kill_wait = seconds(45);
    world.start_agent();
    Pod pod = make_pod("web");
    pod.grace_period = seconds(46);

    world.create(pod);

    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.said_on("web").contains("terminationGracePeriodSeconds is 46"));
    CHECK(world.said_on("web").contains("45 is the most"));
    world.set_most(seconds(46)); // as a restart does, too
    CHECK(world.node_of("web") != "");
}

TEST_CASE("slurm.conf may allow a longer grace period later")
{
    SlowWorld world;
    world.conf.max_grace_period.reset();
    world.start_agent();
    Pod pod = make_pod("web");
    pod.grace_period = seconds(60);
    world.create(pod);
    REQUIRE(world.slurm.count("submit") == 0);

    SUBCASE("KillWait")
    {
        world.slurm.grace_times.kill_wait = seconds(60);
    }
    SUBCASE("GraceTime of a partition")
    {
        world.slurm.grace_times.preempted["low"] = seconds(60);
    }
    world.cut_socket();
    world.connect_socket();
    world.settle();

    CHECK(world.node_of("web") != "");
}

TEST_CASE("a Pod that says nothing of its grace period always gets a job")
{
    SlowWorld world;
    world.conf.max_grace_period = seconds(4);
    world.start_agent();

    world.create("web");

    CHECK(world.node_of("web") != "");
    world.run_containers("web");
    world.slurm.scancel(1);
    world.settle();
    CHECK(world.deletions() == std::vector<std::string>{"4"});
}

TEST_CASE("a job that waits when less is allowed is given back, the Pod not")
{
    SlowWorld world;
    world.nodes = {make_node("kn1")}; // of 16 CPUs
    world.start_agent();
    world.create(make_pod("big", MilliCpu{16000}));
    Pod pod = make_pod("web");
    pod.grace_period = seconds(600);
    world.create(pod);
    REQUIRE(world.slurm.job(2).job.state == JobState::pending);

    world.set_most(seconds(599));
    world.pass(seconds(30));

    CHECK(world.slurm.job(2).job.state == JobState::cancelled);
    CHECK(world.slurm.count("submit") == 2);
    CHECK(world.pod("web")->phase == "Pending");
    CHECK(world.said_on("web").contains("599 is the most"));
    world.set_most(seconds(600));
    world.pass(seconds(30));
    CHECK(world.slurm.count("submit") == 3);
}

TEST_CASE("what runs when less is allowed runs on, and without its job, too")
{
    SlowWorld world;
    world.start_agent();
    world.run("web", seconds(600));
    world.set_most(seconds(10));
    CHECK(world.deletions().empty());

    world.restart_without_jobs();
    world.pass(seconds(30));

    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living().front().job.state == JobState::running);
    CHECK(world.deletions().empty());
    world.slurm.scancel(world.slurm.living().front().job.ref.id);
    world.settle();
    CHECK(world.deletions() == std::vector<std::string>{"10"});
}

TEST_CASE("nothing is submitted before it is known what slurm.conf allows")
{
    SlowWorld world;
    world.slurm.fail_always("load_grace_times", Code::busy);
    world.start_agent();
    world.create("web");
    CHECK(world.slurm.count("submit") == 0);
    world.slurm.heal("load_grace_times");

    world.pass(seconds(11));

    CHECK(world.node_of("web") != "");
}

TEST_CASE("after its job a Pod gets KillWait, however long its own grace is")
{
    SlowWorld world;
    world.slurm.grace_times.kill_wait = seconds(20);
    world.start_agent();
    world.run("web", seconds(3600));
    world.set_most(std::nullopt);

    world.slurm.end_job(1, JobState::timeout);
    world.settle();

    CHECK(world.deletions() == std::vector<std::string>{"20"});
    CHECK(world.kube.count("expire_pod") == 0);
    world.pass(seconds(100)); // its kubelet has been told
    CHECK(world.deletions().size() == 1);
}

TEST_CASE("a Pod that ends in time by itself keeps its object")
{
    SlowWorld world;
    world.slurm.grace_times.kill_wait = seconds(20);
    world.start_agent();
    world.run("web", seconds(20));
    world.set_most(std::nullopt);

    world.slurm.end_job(1, JobState::timeout);
    world.settle();

    CHECK(world.kube.count("expire_pod") == 1);
    CHECK(world.deletions().empty());
}

TEST_CASE("MaxGracePeriod goes before KillWait")
{
    SlowWorld world;
    world.start_agent();
    world.run("web", seconds(51));
    world.set_most(seconds(50));

    world.slurm.scancel(1);
    world.settle();

    CHECK(world.deletions() == std::vector<std::string>{"50"});
}

TEST_CASE("a preempted Pod gets the GraceTime of its partition, if it has one")
{
    for (bool has_one : {false, true}) {
        CAPTURE(has_one);
        SlowWorld world;
        world.conf.partition = "low";
        if (has_one)
            world.slurm.grace_times.preempted["low"] = seconds(40);
        world.start_agent();
        world.run("web", seconds(100));
        world.set_most(seconds(10));

        world.slurm.end_job(1, JobState::preempted);
        world.settle();

        auto calls = world.kube.calls();
        auto evicted =
            std::ranges::find(calls, "evict_pod", &FakeKube::Call::what);
        REQUIRE(evicted != calls.end());
        CHECK(evicted->detail == (has_one ? "40" : "10"));
    }
}

TEST_CASE("a deletion that is under way is shortened when the job ends")
{
    SlowWorld world;
    world.start_agent();
    world.run("web", seconds(30));
    world.kube.change({"default", "web"}, [](Pod &pod) {
        pod.deleting = true;
        pod.deletion_grace = seconds(86400); // kubectl delete --grace-period
    });
    world.set_most(std::nullopt);
    CHECK(world.deletions().empty()); // its job runs, and counts

    world.slurm.end_job(1, JobState::timeout);
    world.settle();

    CHECK(world.deletions() == std::vector<std::string>{"30"});
    CHECK(world.pod("web")->deletion_grace == seconds(30));
    world.pass(seconds(100));
    CHECK(world.deletions().size() == 1);
}

TEST_CASE("a deadline of the user's own lengthens nothing")
{
    SlowWorld world;
    world.start_agent();
    Pod pod = make_pod("web");
    pod.grace_period = seconds(3600);
    pod.active_deadline = 1;
    world.create(pod);
    world.run_containers("web");
    world.set_most(std::nullopt);

    world.slurm.end_job(1, JobState::timeout);
    world.settle();

    CHECK(world.deletions() == std::vector<std::string>{"30"});
    CHECK(world.pod("web")->deletion_grace == seconds(30));
}

TEST_CASE("a Pod with the grace period 0 is not deleted by force")
{
    SlowWorld world;
    world.start_agent();
    Pod pod = make_pod("web"); // no container has started
    pod.grace_period = seconds(0);
    world.create(pod);

    world.slurm.scancel(1);
    world.settle();

    CHECK(world.deletions() == std::vector<std::string>{"1"});
}

TEST_CASE("a Pod that vanishes leaves its node dirty for its grace and more")
{
    SlowWorld world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.run("web", seconds(60));

    world.force_delete("web");

    CHECK(world.only_job().job.state == JobState::cancelled);
    CHECK(world.slurm.dirty() == "kn1");
    CHECK(world.metrics().contains("\nslurmk8sd_pods_vanished 1\n"));
    world.pass(seconds(69));
    CHECK(world.slurm.dirty() == "kn1");
    world.pass(seconds(2));
    CHECK(world.slurm.dirty() == "");
    CHECK(world.metrics().contains("\nslurmk8sd_pods_vanished 0\n"));
}

TEST_CASE("beside a Pod that vanished there is no more room than is")
{
    SlowWorld world;
    world.nodes = {make_node("kn1")}; // of 16 CPUs
    world.start_agent();
    Pod old = make_pod("old", MilliCpu{10000});
    old.grace_period = seconds(30);
    world.create(old);
    world.run_containers("old");
    world.force_delete("old");

    world.create(make_pod("big", MilliCpu{10000}));
    world.create(make_pod("small", MilliCpu{6000}));
    CHECK(world.node_of("big") == "");
    CHECK(world.node_of("small") == "kn1");
    world.end_containers("small", 0);
    world.pass(seconds(41));

    CHECK(world.node_of("big") == "kn1");
}

TEST_CASE("a Pod whose kubelet has ended it leaves its node clean")
{
    SlowWorld world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.run("web", seconds(60));

    world.delete_as_user("web");
    world.finish_deletion("web");

    CHECK(world.slurm.dirty() == "");
}

TEST_CASE("beside containers without devices a job with GRES may start")
{
    for (bool devices : {false, true}) {
        CAPTURE(devices);
        SlowWorld world;
        world.nodes = {make_node("kn1")};
        world.slurm.add_real_node("kn1");
        world.start_agent();
        world.create(make_pod("old", MilliCpu{4000}));
        world.run_containers("old");
        REQUIRE(world.node_of("old") == "kn1");
        world.slurm.scancel(1);
        world.settle();
        REQUIRE(world.slurm.dirty() == "kn1");
        if (devices) {
            Pod stray = make_pod("stray");
            stray.node_name = "kn1";
            stray.requests.others["example.com/gpu"] = 1;
            world.create(stray);
        }

        JobId job = world.slurm.sbatch(8).id;
        world.slurm.give_devices(job);
        world.slurm.schedule();
        world.settle();

        CHECK((world.slurm.job(job).job.state == JobState::running) ==
              !devices);
    }
}
