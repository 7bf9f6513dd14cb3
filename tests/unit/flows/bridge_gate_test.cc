// SPDX-License-Identifier: GPL-2.0-or-later
// Dirty nodes: what the plugin is told of them, and who may start there.
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

// One Node of 16 CPUs and 64000 MiB, with a slurmd or without.
struct OneNode : World {
    explicit OneNode(bool hybrid = false)
    {
        nodes = {make_node("kn1")};
        if (hybrid)
            slurm.add_real_node("kn1");
    }

    // A Pod whose job has ended in Slurm, and which does not stop.
    void create_stopper(std::int64_t cpus, std::int64_t mib = 1)
    {
        JobId job = create_running("stopper", cpus, mib);
        slurm.scancel(job);
        settle();
        REQUIRE(slurm.dirty() == "kn1");
    }
    JobId create_running(const std::string &name, std::int64_t cpus,
                         std::int64_t mib = 1)
    {
        create(make_pod(name, MilliCpu{cpus * 1000}, Bytes{mib << 20}));
        REQUIRE(node_of(name) == "kn1");
        run_containers(name);
        return static_cast<JobId>(
            std::stoul(pod(name)->label(names::job_id_label)));
    }
    JobId sbatch(std::uint32_t cpus, std::uint64_t mib = 1)
    {
        JobId id = slurm.sbatch(cpus, mib).id;
        slurm.schedule();
        settle();
        return id;
    }
    JobState state(JobId id) { return slurm.job(id).job.state; }
};

using enum JobState;

} // namespace

TEST_CASE("the plugin is told where Pods may live, and what is dirty")
{
    World world;
    world.start_agent();

    REQUIRE(world.slurm.bridge_said.size() == 1);
    CHECK(world.slurm.bridge_said[0].nodes == "kn1,kn2");
    REQUIRE(world.slurm.synced_said.size() == 1);
    CHECK(world.slurm.dirty() == "");

    world.create("web"); // what a job covers is clean
    world.run_containers("web");
    world.end_containers("web", 0);
    CHECK(world.slurm.synced_said.size() == 1);
}

TEST_CASE("nothing is synced before everything is listed")
{
    World world;
    world.slurm.fail_always("load_all", Code::busy);
    world.start_agent();
    CHECK(world.slurm.dirty() == "never");

    world.slurm.heal("load_all");
    world.pass(seconds(3));

    CHECK(world.slurm.dirty() == "");
}

TEST_CASE("a node is dirty from the end of a job to the end of its Pods")
{
    for (JobState end : {cancelled, timeout, preempted, completed}) {
        CAPTURE(state_name(end));
        World world;
        world.start_agent();
        world.create("web");
        world.run_containers("web");

        world.slurm.end_job(1, end);
        world.settle();
        CHECK(world.slurm.dirty() == world.node_of("web"));
        world.finish_deletion("web");
        CHECK(world.slurm.dirty() == "");
    }
}

TEST_CASE("the node of a suspended job is dirty, until the job is resumed")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");
    world.slurm.fail_always("resume_job", Code::busy);

    world.slurm.suspend(1);
    world.pass(seconds(13));
    CHECK(world.slurm.dirty() == "kn1");
    world.slurm.heal("resume_job");
    world.pass(seconds(31));

    CHECK(world.slurm.dirty() == "");
}

TEST_CASE("Pods that nobody's job covers make their node dirty")
{
    World world;
    Pod pod = make_pod("stray");
    pod.node_name = "kn2";
    pod.phase = "Running";
    world.kube.put(pod);

    world.start_agent();

    CHECK(world.slurm.dirty() == "kn2");
}

TEST_CASE("a Node that is known by another name in Slurm is told by that")
{
    World world;
    world.nodes = {make_node("kn1.example.com")};
    world.nodes[0].labels[names::slurm_nodename_label] = "n1";
    world.start_agent();
    world.create("web");
    CHECK(world.slurm.bridge_said.back().nodes == "n1");

    world.slurm.scancel(1);
    world.settle();

    CHECK(world.slurm.dirty() == "n1");
}

TEST_CASE("a list that is too long for a packet comes in parts")
{
    World world;
    world.nodes.clear();
    std::set<std::string> names;
    for (int i = 0; i < 1000; i++) {
        std::string name = std::string(200, 'n') + std::to_string(i);
        world.nodes.push_back(make_node(name));
        names.insert(name);
    }
    world.start_agent();

    REQUIRE(world.slurm.bridge_said.size() > 1);
    std::set<std::string> said;
    for (const HookMessage &part : world.slurm.bridge_said) {
        CHECK(encode(part).size() < max_packet);
        CHECK(part.more == (&part != &world.slurm.bridge_said.back()));
        for (std::size_t at = 0; at < part.nodes.size();) {
            std::size_t end =
                std::min(part.nodes.find(',', at), part.nodes.size());
            said.insert(part.nodes.substr(at, end - at));
            at = end + 1;
        }
    }
    CHECK(said == names);
}

TEST_CASE("a plugin that connects hears the lists when jobs are listed anew")
{
    OneNode world;
    world.start_agent();
    world.create_running("lost", 16);
    world.cut_socket();
    world.settle();
    world.slurm.purge(1); // slurmctld crashed, and no epilog will tell
    world.slurm.fail_always("load_all", Code::busy);
    std::size_t before = world.slurm.synced_said.size();

    world.connect_socket();
    world.settle();
    CHECK(world.slurm.synced_said.size() == before);
    world.slurm.heal("load_all");
    world.pass(seconds(3));

    REQUIRE(world.slurm.synced_said.size() > before);
    CHECK(world.slurm.synced_said[before].dirty == "kn1");
}

TEST_CASE("what is dirty is told before thousands of Pods are decided")
{
    OneNode world;
    world.start_agent();
    world.create_running("lost", 16);
    for (int i = 0; i < 10; i++)
        world.create("a" + std::to_string(i)); // they wait
    world.cut_socket();
    world.settle();
    world.slurm.purge(1);
    std::size_t before = world.slurm.synced_said.size();
    world.decision_time = seconds(1); // one is decided in each turn

    world.connect_socket();
    world.pass(seconds(3));

    REQUIRE(world.slurm.synced_said.size() > before);
    CHECK(world.slurm.synced_said[before].dirty == "kn1");
}

TEST_CASE("an agent that starts anew finds what is dirty")
{
    OneNode world;
    world.start_agent();
    world.create_stopper(16);

    world.start_agent();

    CHECK(world.slurm.dirty() == "kn1");
    world.finish_deletion("stopper");
    CHECK(world.slurm.dirty() == "");
}

// ---- ordinary jobs on a hybrid node

TEST_CASE("an ordinary job waits for the last container that it needs gone")
{
    OneNode world(true);
    world.start_agent();
    world.create_stopper(16);

    JobId job = world.sbatch(1);
    CHECK(world.state(job) == configuring);
    world.pass(seconds(30));
    CHECK(world.state(job) == configuring);
    world.finish_deletion("stopper");

    CHECK(world.state(job) == running);
}

TEST_CASE("an ordinary job starts early where it fits")
{
    OneNode world(true);
    world.start_agent();
    world.create_stopper(10, 30000);

    CHECK(world.state(world.sbatch(6, 34000)) == running);
    JobId cpus = world.sbatch(1); // Slurm has 10 CPUs to give
    CHECK(world.state(cpus) == configuring);
    world.pass(seconds(10));
    CHECK(world.state(cpus) == configuring);
}

TEST_CASE(
    "an ordinary job that needs the memory waits, whatever CPUs there are")
{
    OneNode world(true);
    world.start_agent();
    world.create_stopper(1, 30000);

    CHECK(world.state(world.sbatch(1, 34001)) == configuring);
}

TEST_CASE("of several jobs as many start early as fit, the oldest first")
{
    OneNode world(true);
    world.start_agent();
    world.create_stopper(8);
    std::vector<JobId> jobs;
    for (int i = 0; i < 5; i++)
        jobs.push_back(world.slurm.sbatch(3).id);

    world.slurm.schedule(); // all five: for Slurm the node is empty
    world.settle();

    CHECK(world.state(jobs[0]) == running);
    CHECK(world.state(jobs[1]) == running);
    for (int i : {2, 3, 4})
        CHECK(world.state(jobs[i]) == configuring);
    world.slurm.end_job(jobs[0], completed); // nobody tells us
    world.pass(seconds(3));
    CHECK(world.state(jobs[2]) == running);
    CHECK(world.state(jobs[3]) == configuring);
}

TEST_CASE("a Pod's running job counts for the early start of another")
{
    OneNode world(true);
    world.start_agent();
    world.create_running("runs", 6);
    world.create_stopper(6);

    CHECK(world.state(world.sbatch(5)) == configuring);
    CHECK(world.state(world.sbatch(4)) == running);
}

TEST_CASE("a Pod's job that has just ended counts as ended, told or not")
{
    OneNode world(true);
    world.start_agent();
    JobId ended = world.create_running("runs", 6);
    world.create_stopper(6);
    world.slurm.end_job(ended, timeout); // the word of it is still under way

    JobId job = world.sbatch(5); // Slurm has 16 CPUs to give, the Pods use 12
    CHECK(world.state(job) == configuring);
    CHECK(world.state(world.sbatch(4)) == running);
}

TEST_CASE("beside devices no job starts early")
{
    SUBCASE("the job's: only if no Pod has any")
    {
        OneNode world(true);
        world.start_agent();
        world.create_stopper(8);
        for (std::uint32_t cpus : {9U, 8U}) { // the first does not fit
            JobId job = world.slurm.sbatch(cpus).id;
            world.slurm.give_devices(job);
            world.slurm.schedule();
            world.settle();
            CHECK(world.state(job) == (cpus == 8 ? running : configuring));
            world.slurm.scancel(job);
            world.settle();
        }
    }
    SUBCASE("a Pod's")
    {
        OneNode world(true);
        world.start_agent();
        world.create_stopper(1);
        Pod stray = make_pod("stray");
        stray.node_name = "kn1";
        stray.requests.others["example.com/gpu"] = 1;
        world.create(stray);
        CHECK(world.state(world.sbatch(1)) == configuring);
    }
}

TEST_CASE("a job that ended while it waited leaves its place to the next")
{
    OneNode world(true);
    world.start_agent();
    world.create_stopper(8);
    JobId first = world.sbatch(16);
    world.slurm.end_job(first, cancelled);
    JobId next = world.sbatch(8);

    CHECK(world.state(next) == running);
    world.slurm.forget_calls();
    world.pass(seconds(20)); // nobody waits: nothing is asked
    CHECK(world.slurm.calls() - world.slurm.count("load_states") <= 1);
}

TEST_CASE("nobody starts early while Slurm does not answer")
{
    OneNode world(true);
    world.start_agent();
    world.create_stopper(8);
    for (const char *what : {"load_nodes", "load_states", "load"}) {
        CAPTURE(what);
        world.slurm.fail_always(what, Code::busy);
        JobId job = world.sbatch(1);
        world.pass(seconds(5));
        CHECK(world.state(job) == configuring);
        world.slurm.heal(what);
        world.pass(seconds(3));
        CHECK(world.state(job) == running);
    }
}

TEST_CASE("an agent that starts anew looks after the jobs that wait")
{
    OneNode world(true);
    world.start_agent();
    world.create_stopper(8);
    JobId waits = world.sbatch(16);
    REQUIRE(world.state(waits) == configuring);

    world.start_agent();
    world.pass(seconds(5));
    CHECK(world.state(waits) == configuring);
    world.finish_deletion("stopper");

    CHECK(world.state(waits) == running);
}

// ---- placeholders

TEST_CASE("a Pod is bound to a dirty hybrid node only beside ordinary jobs")
{
    OneNode world(true);
    world.start_agent();
    JobId job = world.sbatch(8);
    REQUIRE(world.state(job) == running);
    world.create_stopper(6);

    world.create(make_pod("fits", MilliCpu{2000}));
    world.create(make_pod("waits", MilliCpu{2000}));
    CHECK(world.node_of("fits") == "kn1");
    CHECK(world.node_of("waits") == "");
    world.slurm.end_job(job, completed);
    world.pass(seconds(3));

    CHECK(world.node_of("waits") == "kn1");
}

TEST_CASE("of two Pods that fit one by one only one is bound")
{
    OneNode world;
    world.start_agent();
    world.create_stopper(8);
    world.kube.put(make_pod("one", MilliCpu{8000}));
    world.kube.put(make_pod("two", MilliCpu{8000}));
    world.watch_pods = false; // the bindings are seen late
    world.deliver(Changed<Pod>{*world.pod("one"), false});
    world.deliver(Changed<Pod>{*world.pod("two"), false});
    world.pass(seconds(5));

    CHECK((world.node_of("one") == "") != (world.node_of("two") == ""));
}

TEST_CASE("beside the Pod of a suspended job there is no more room than is")
{
    OneNode world;
    world.start_agent();
    world.create_running("old", 10);
    world.slurm.fail_always("resume_job", Code::denied);
    world.slurm.suspend(1);
    world.pass(seconds(13));

    world.create(make_pod("big", MilliCpu{10000})); // Slurm gives it
    world.create(make_pod("small", MilliCpu{6000}));

    CHECK(world.node_of("big") == "");
    CHECK(world.node_of("small") == "kn1");
}

TEST_CASE("a Pod that waits for room says so")
{
    OneNode world;
    world.start_agent();
    world.create_stopper(16);
    world.create("web");
    world.pass(seconds(3));

    CHECK(world.said_on("web").contains("Slurm job 2 has node kn1"));
    world.finish_deletion("stopper");
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("after BindTimeout the node is drained, and then the job replaced")
{
    World world;
    world.conf.bind_timeout = seconds(20);
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(make_pod("stopper", MilliCpu{16000}));
    world.slurm.scancel(1);
    world.settle();
    world.create(make_pod("web", MilliCpu{16000}));
    world.nodes.push_back(make_node("kn2"));
    world.deliver(Listed<Node>{"", world.nodes});

    world.slurm.fail_always("drain", Code::busy);
    world.pass(seconds(25));
    CHECK(world.slurm.living()[0].job.ref.id == 2); // not drained: it waits
    world.slurm.heal("drain");
    world.pass(seconds(10));

    CHECK(world.slurm.node("kn1").drained);
    CHECK(world.slurm.node("kn1").reason == names::gate_drain_reason);
    CHECK(world.slurm.job(2).job.state == cancelled);
    CHECK(world.node_of("web") == "kn2");
    world.finish_deletion("stopper");
    world.pass(seconds(10));
    CHECK_FALSE(world.slurm.node("kn1").drained);
}

TEST_CASE("the words of a node that somebody else drained stay")
{
    World world;
    world.conf.bind_timeout = seconds(20);
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(make_pod("stopper", MilliCpu{16000}));
    world.slurm.scancel(1);
    world.settle();
    world.create(make_pod("web", MilliCpu{16000}));
    world.slurm.set_drained("kn1", "broken fan");

    world.pass(seconds(30));

    CHECK(world.slurm.node("kn1").reason == "broken fan");
    CHECK(world.slurm.job(2).job.state == cancelled);
    CHECK(world.slurm.living().size() == 1);
}

TEST_CASE("what the gate drained is not resumed by an agent that starts anew")
{
    OneNode world;
    world.start_agent();
    world.create_stopper(16);
    world.slurm.set_drained("kn1", names::gate_drain_reason);

    world.start_agent();
    world.pass(seconds(60));
    CHECK(world.slurm.node("kn1").drained);
    world.finish_deletion("stopper");
    world.pass(seconds(10));

    CHECK_FALSE(world.slurm.node("kn1").drained);
}
