// SPDX-License-Identifier: GPL-2.0-or-later
// What Pods that wait are told, and what waiting and living Pods cost.
#include "tests/unit/flows/full_cluster.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// The agent learns at once of 100 Pods of the namespace "a" and one of "b", and
// then submits their jobs.
struct BusyNamespace : World {
    BusyNamespace()
    {
        for (const char *name : {"a", "b"})
            namespaces.emplace_back().name = name;
        start_agent();
        watch_pods = false;
        Listed<Pod> listed{"slurm", {}};
        for (int i = 100; i < 200; i++)
            listed.objects.push_back(put("a", "a" + std::to_string(i)));
        listed.objects.push_back(put("b", "b"));
        post(std::move(listed));
    }

    Pod put(const std::string &ns, const std::string &name)
    {
        Pod pod = make_pod(name);
        pod.key.ns = ns;
        return kube.put(std::move(pod));
    }

    // Returns how many jobs are submitted before the agent hears of more.
    std::size_t submit()
    {
        std::size_t count = slurm.jobs().size();
        while (step(1), slurm.jobs().size() > count)
            count++;
        return count;
    }
};

} // namespace

TEST_CASE("waiting Pods cost no RPC and no API call each")
{
    FullCluster world(seconds(30));
    for (int i = 0; i < 50; i++)
        world.create(large_pod("web-" + std::to_string(i)));
    world.pass(seconds(31)); // the reason is told once
    CHECK(world.kube.count("set_unscheduled") == 50);
    std::size_t before = world.kube.calls().size();
    world.slurm.forget_calls();

    world.pass(seconds(60));

    CHECK(world.slurm.count("load") == 0);
    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.slurm.count("load_states") <= 31);
    CHECK(world.slurm.count("load_all") <= 3);
    CHECK(world.slurm.calls() <= 34);
    CHECK(world.kube.calls().size() == before);
}

TEST_CASE("when decisions take long, a turn ends before all are made, and "
          "namespaces take turns")
{
    BusyNamespace world;
    world.decision_time = milliseconds(1);
    world.step(1); // the list comes
    CHECK(world.next_deadline() == world.now);

    CHECK(world.submit() == 24);
    CHECK(world.slurm.jobs().at(2).job.tag.gang == "b/b");

    world.settle();
    CHECK(world.slurm.jobs().size() == 101);
    CHECK(world.next_deadline() > world.now);
}

TEST_CASE("when decisions take no time, one turn makes all of them")
{
    BusyNamespace world;
    world.step(1);

    CHECK(world.submit() == 101);
}

TEST_CASE("a Pod that has ended may be deleted before it is decided")
{
    World world;
    world.start_agent();
    world.create("z");
    world.run_containers("z");
    world.watch_pods = false;
    world.end_containers("z", 0);
    Listed<Pod> listed{"slurm", world.kube.pods()};
    for (const char *name : {"a", "b", "c"}) {
        Pod pod = make_pod(name);
        pod.key.ns = "a";
        listed.objects.push_back(world.kube.put(std::move(pod)));
    }
    world.decision_time = seconds(1); // one is decided in each turn
    Pod ended = world.pod("z").value();

    world.post(std::move(listed));
    world.step(1);
    world.kube.erase(ended.key);
    world.post(Changed<Pod>{std::move(ended), true});
    world.settle();

    CHECK(world.slurm.job(1).job.state == JobState::completed);
}

TEST_CASE("with nothing that waits or lives, nothing is polled but the resync")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    world.end_containers("web", 0);
    world.slurm.forget_calls();

    world.pass(seconds(200));

    CHECK(world.slurm.calls() == 0);
    world.pass(seconds(200));
    CHECK(world.slurm.count("load_all") == 1);
    CHECK(world.slurm.count("load_grace_times") == 1);
    CHECK(world.slurm.calls() == 2);
}

TEST_CASE("while Pods live, the states of all jobs are asked for rarely")
{
    World world;
    world.start_agent();
    for (int i = 0; i < 10; i++)
        world.create("web-" + std::to_string(i));
    world.slurm.forget_calls();

    world.pass(seconds(200));

    CHECK(world.slurm.count("load_states") <= 20);
    CHECK(world.slurm.count("load_states") >= 15);
    CHECK(world.slurm.calls() == world.slurm.count("load_states"));
}

TEST_CASE("why a Pod waits stands on it, and is written when that is another")
{
    FullCluster world(seconds(5));
    world.create(large_pod("web"));
    const JobId job = world.slurm.jobs().rbegin()->first;

    world.pass(seconds(8));
    CHECK(world.said_on("web") ==
          "Slurm job " + std::to_string(job) + " is waiting: Resources.");
    world.pass(seconds(30));
    CHECK(world.kube.count("set_unscheduled") == 1);

    world.slurm.hold(job);
    world.slurm.set_reason(job, "JobHeldUser");
    world.pass(seconds(8));
    CHECK(world.said_on("web").ends_with("is waiting: JobHeldUser."));
    CHECK(world.kube.count("set_unscheduled") == 2);
}

TEST_CASE("the first reason comes within seconds, later ones by ReasonInterval")
{
    FullCluster world(seconds(600));
    world.pass(seconds(60));
    world.create(large_pod("web"));
    const JobId job = world.slurm.jobs().rbegin()->first;

    world.pass(seconds(10));
    CHECK(world.said_on("web").ends_with("is waiting: Resources."));

    world.slurm.hold(job);
    world.slurm.set_reason(job, "JobHeldUser");
    world.pass(seconds(60));
    CHECK(world.said_on("web").ends_with("is waiting: Resources."));
}

TEST_CASE("a Pod behind one that waits for resources is Unschedulable, too")
{
    FullCluster world(seconds(5));
    world.create(large_pod("first"));
    const JobId first = world.slurm.jobs().rbegin()->first;
    world.create(large_pod("second"));
    const JobId second = world.slurm.jobs().rbegin()->first;
    world.slurm.set_reason(second, "Priority");
    world.pass(seconds(8));
    CHECK(world.pod("first")->scheduled.reason == "Unschedulable");
    CHECK(world.pod("second")->scheduled.reason == "Unschedulable");

    world.slurm.hold(first);
    world.slurm.set_reason(first, "JobHeldUser");
    world.pass(seconds(8));
    CHECK(world.pod("first")->scheduled.reason == "JobHeldUser");
}

TEST_CASE(
    "a Pod that begins to wait for nodes says so, though in the same words")
{
    FullCluster world(seconds(5));
    world.create(large_pod("web"));
    const JobId job = world.slurm.jobs().rbegin()->first;
    world.slurm.hold(job); // its reasons are the test's
    world.slurm.set_reason(job, "Priority");
    world.pass(seconds(8));
    CHECK(world.pod("web")->scheduled.reason == "Priority");

    world.slurm.set_reason(job, "Resources");
    world.pass(seconds(8));
    CHECK(world.pod("web")->scheduled.reason == "Unschedulable");
    CHECK(world.kube.count("set_unscheduled") == 2);

    world.slurm.set_reason(job, "Priority");
    world.pass(seconds(8));
    CHECK(world.kube.count("set_unscheduled") == 2);
}

TEST_CASE("a condition that could not be written is written later")
{
    FullCluster world(seconds(5));
    world.kube.fail_next("set_unscheduled", Code::busy);

    world.create(large_pod("web"));
    world.pass(seconds(20));

    CHECK(world.said_on("web").ends_with("is waiting: Resources."));
}
