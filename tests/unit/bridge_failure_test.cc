// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of a Pod when something is lost, late, doubled, refused or away.
#include "tests/unit/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

JobDescription description_of(const Pod &pod, std::uint32_t generation = 0)
{
    JobDescription job;
    job.name = pod.key.name;
    job.features = "k8s";
    job.memory_per_node = MebiBytes{1};
    job.tag = {pod.key.str(), pod.uid, generation};
    return job;
}

// A slurmd's node on which a job of ours may land and no Pod can.
void add_misfit(World &world)
{
    world.slurm.add_real_node("a-misfit");
}

void check_runs_once(World &world)
{
    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.kube.count("bind") == 1);
    CHECK(world.node_of("web") != "");
    CHECK(world.pod("web")->annotation(names::sluid_annotation) ==
          world.slurm.living()[0].job.ref.sluid.str());
    CHECK(world.slurm.living()[0].job.state == JobState::running);
}

} // namespace

TEST_CASE("with the socket cut, the state poll still binds, once")
{
    World world;
    world.start_agent();
    world.cut_socket();
    world.create("web");
    world.slurm.schedule(); // by itself: nobody kicks
    CHECK(world.node_of("web") == "");

    world.pass(seconds(5));
    CHECK(world.node_of("web") != "");
    CHECK(world.only_job().job.state == JobState::configuring);

    world.connect_socket();
    world.settle();

    check_runs_once(world);
}

TEST_CASE("a socket that is cut while a Pod runs loses nothing")
{
    World world;
    world.start_agent();
    world.create("web");
    world.cut_socket();
    world.end_containers("web", 0);
    CHECK(world.only_job().job.state == JobState::completed);
    CHECK(world.only_job().epilog_held);

    world.connect_socket();
    world.settle();

    CHECK_FALSE(world.only_job().epilog_held);
    CHECK(world.only_job().completions == 1);
}

TEST_CASE("an scancel that nobody told of is found at the next resync")
{
    World world;
    world.conf.resync_interval = seconds(60);
    world.start_agent();
    world.create("web");
    world.cut_socket();

    world.slurm.scancel(world.only_job().job.ref.id);
    world.pass(seconds(65));

    CHECK(world.pod("web")->deleting);
}

TEST_CASE("hooks that come twice do nothing more")
{
    World world;
    world.start_agent();
    world.create("web");

    for (int i = 0; i < 3; i++) {
        world.cut_socket();
        world.settle();
        world.connect_socket();
        world.settle();
    }

    check_runs_once(world);
    CHECK(world.slurm.starts == 1);
    world.slurm.scancel(world.only_job().job.ref.id);
    world.settle();
    for (int i = 0; i < 3; i++) {
        world.cut_socket();
        world.settle();
        world.connect_socket();
        world.settle();
    }
    CHECK(world.only_job().epilog_held); // the Pod still lives
    CHECK(world.kube.count("delete_pod") == 1);
    world.finish_deletion("web");
    CHECK_FALSE(world.only_job().epilog_held);
    CHECK(world.slurm.cleans == 1);
}

TEST_CASE("a submit whose answer was lost left a job, which is found")
{
    World world;
    world.start_agent();
    world.slurm.lose_reply("submit");

    world.create("web");
    world.pass(seconds(5));

    CHECK(world.slurm.jobs().size() == 1);
    check_runs_once(world);
}

TEST_CASE("a submit that got lost itself is made again")
{
    World world;
    world.start_agent();
    world.slurm.fail_next("submit", Code::uncertain);

    world.create("web");
    world.pass(seconds(5));

    CHECK(world.slurm.jobs().size() == 1);
    check_runs_once(world);
}

TEST_CASE("after a lost answer nothing is submitted until the list has come")
{
    World world;
    world.start_agent();
    world.slurm.lose_reply("submit");
    for (int i = 0; i < 4; i++)
        world.slurm.fail_next("load_all", Code::busy);

    world.create("web");
    CHECK(world.slurm.count("submit") == 1);
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().size() == 1);
    check_runs_once(world);
}

TEST_CASE("a Pod that goes while its submit is uncertain leaves no job")
{
    World world;
    world.start_agent();
    world.slurm.lose_reply("submit");
    world.slurm.fail_next("load_all", Code::busy);
    world.create("web");

    world.delete_as_user("web");
    world.pass(seconds(120));

    CHECK(world.slurm.living().empty());
}

TEST_CASE("of two jobs of one gang the older stays, the other is ended")
{
    World world;
    Pod pod = world.kube.put(make_pod("web"));
    world.slurm.plant(description_of(pod));
    world.slurm.plant(description_of(pod));

    world.start_agent();
    world.pass(seconds(5));

    check_runs_once(world);
    CHECK(world.slurm.living()[0].job.ref.id == 1);
    CHECK(world.slurm.job(2).job.state == JobState::cancelled);
}

TEST_CASE("of two jobs of one gang the one that bound the Pod stays")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.add_node("kn1");
    JobRef older = world.slurm.plant(description_of(pod));
    world.slurm.schedule();
    JobRef younger = world.slurm.plant(description_of(pod));
    world.slurm.schedule();
    pod.phase = "Running";
    world.kube.put(with_binding(pod, world.slurm.job(younger.id).job, "kn1"));

    world.start_agent();
    world.pass(seconds(5));

    CHECK(is_allocated(world.slurm.job(younger.id).job.state));
    CHECK(world.slurm.job(older.id).job.state == JobState::cancelled);
    CHECK_FALSE(world.pod("web")->deleting);
}

TEST_CASE("which of two jobs bound the Pod is known before either is ended, "
          "however late the Pods are listed")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.add_node("kn1");
    world.slurm.plant(description_of(pod));
    JobRef younger = world.slurm.plant(description_of(pod));
    world.slurm.schedule();
    pod.phase = "Running";
    world.kube.put(with_binding(pod, world.slurm.job(younger.id).job, "kn1"));

    world.start_agent_unlisted();
    world.pass(seconds(10));
    CHECK(world.slurm.count("cancel") == 0);
    world.send_lists();
    world.pass(seconds(5));

    CHECK(is_allocated(world.slurm.job(younger.id).job.state));
    CHECK(world.slurm.living().size() == 1);
}

TEST_CASE("a job that Slurm refuses is said on the Pod, and tried again later")
{
    World world;
    world.start_agent();
    world.slurm.fail_always("submit", Code::rejected);

    world.create("web");
    CHECK(world.slurm.count("submit") == 1);
    CHECK(world.said_on("web").find("as the test wants") != std::string::npos);

    world.pass(seconds(600));
    CHECK(world.slurm.count("submit") < 12); // with growing pauses
    CHECK(world.kube.count("set_unscheduled") == 1);

    world.slurm.heal("submit");
    world.pass(seconds(301));
    check_runs_once(world);
}

TEST_CASE("a Pod of nobody's is told whom to ask")
{
    World world;
    world.conf.default_user = "";
    world.start_agent();

    world.create("web");

    CHECK(world.slurm.jobs().empty());
    CHECK(world.said_on("web").find("slurmk8s/user") != std::string::npos);
}

// Pods and Namespaces are watched apart from each other.
TEST_CASE("a Pod whose Namespace is not known yet waits for it, and runs as "
          "its user")
{
    World world;
    world.conf.allow_root = true;
    world.start_agent();
    Pod pod = make_pod("web");
    pod.key.ns = "new";

    world.create(pod);
    world.pass(seconds(3));
    CHECK(world.slurm.jobs().empty());

    Namespace ns;
    ns.name = "new";
    ns.annotations[names::namespace_user] = "root";
    world.deliver(Changed<Namespace>{ns, false});

    CHECK(world.only_job().asked.user_id == 0);
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("a binding that fails is made again")
{
    for (Code code : {Code::busy, Code::conflict, Code::not_found,
                      Code::uncertain, Code::internal, Code::denied}) {
        CAPTURE(code_name(code));
        World world;
        world.start_agent();
        world.kube.fail_next("bind", code);

        world.create("web");
        CHECK(world.node_of("web") == "");
        world.pass(seconds(10));

        CHECK(world.kube.count("bind") == 2);
        CHECK(world.node_of("web") != "");
        CHECK(world.only_job().job.state == JobState::running);
    }
}

TEST_CASE("a binding whose answer was lost is not made twice")
{
    World world;
    world.start_agent();
    world.kube.lose_reply("bind");

    world.create("web");
    world.pass(seconds(10));

    CHECK(world.node_of("web") == world.only_job().job.nodes[0]);
    CHECK(world.only_job().job.state == JobState::running);
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("a Pod that goes before it is bound gives its allocation back")
{
    World world;
    world.start_agent();
    world.kube.fail_next("bind", Code::busy);
    world.create("web");

    world.delete_as_user("web");

    CHECK(world.slurm.living().empty());
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("a Pod that vanished without a word is missed by the next list")
{
    World world;
    world.start_agent();
    world.create("web");
    world.watch_pods = false;
    world.kube.erase({"default", "web"});

    world.send_lists();
    world.settle();

    CHECK(world.only_job().job.state == JobState::cancelled);
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("a list that is older than our binding does not undo it")
{
    World world;
    world.start_agent();
    world.watch_pods = false;
    Pod waiting = world.kube.put(make_pod("web"));
    world.deliver(Changed<Pod>{waiting, false});
    REQUIRE(world.kube.count("bind") == 1);

    world.deliver(Listed<Pod>{"slurm", {waiting}});
    world.pass(seconds(10));

    CHECK(world.kube.count("bind") == 1);
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("while slurmctld is away Pods wait, with pauses that grow")
{
    World world;
    world.start_agent();
    world.slurm.answers = false;
    world.slurm.forget_calls();

    world.create("web");
    world.pass(seconds(120));
    CHECK(world.slurm.count("submit") < 15);
    CHECK(world.pod("web")->phase == "Pending");

    world.slurm.answers = true;
    world.pass(seconds(31));
    check_runs_once(world);
    CHECK(world.slurm.jobs().size() == 1);
}

TEST_CASE("slurmctld away when the agent starts, and when a Pod ends")
{
    World world;
    world.slurm.answers = false;
    world.start_agent();
    world.create("web");
    world.pass(seconds(20));
    CHECK(world.status().find("\"serving\":false") != std::string::npos);

    world.slurm.answers = true;
    world.pass(seconds(31));
    check_runs_once(world);

    world.slurm.answers = false;
    world.end_containers("web", 7);
    world.pass(seconds(100));
    world.slurm.answers = true;
    world.pass(seconds(31));
    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 1);
}

TEST_CASE("a completion whose answer was lost is not repeated")
{
    World world;
    world.start_agent();
    world.create("web");
    world.slurm.lose_reply("complete");

    world.end_containers("web", 7);
    world.pass(seconds(10));

    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 1); // a second one would overwrite
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("what slurmctld keeps refusing is asked with growing pauses")
{
    for (const char *call : {"complete", "cancel"}) {
        CAPTURE(call);
        World world;
        world.start_agent();
        world.create("web");
        world.slurm.fail_always(call, Code::denied);
        world.slurm.forget_calls();

        if (std::string(call) == "complete") {
            world.end_containers("web", 0);
        } else {
            world.delete_as_user("web");
            world.finish_deletion("web");
        }
        world.pass(seconds(120));

        CHECK(world.slurm.count(call) >= 2);
        CHECK(world.slurm.count(call) < 15);
        CHECK(world.slurm.calls() < 40);
        world.slurm.heal(call);
        world.pass(seconds(31));
        CHECK(world.slurm.living().empty());
    }
}

TEST_CASE("a job without a Pod is ended after OrphanGrace, not before")
{
    World world;
    world.slurm.plant(description_of(make_pod("web")));
    world.start_agent();

    world.pass(seconds(55));
    CHECK(world.slurm.living().size() == 1);
    CHECK(world.slurm.count("cancel") == 0);

    world.pass(seconds(10));
    CHECK(world.slurm.living().empty());
}

TEST_CASE("a job whose Pod is listed late is its Pod's job")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.plant(description_of(pod));
    world.start_agent();
    world.pass(seconds(30));

    world.create(pod);
    world.pass(seconds(90));

    check_runs_once(world);
    CHECK(world.slurm.jobs().size() == 1);
}

// A second completion overwrites the exit code of the first.
TEST_CASE("a list that is older than a completion does not end the job again")
{
    World world;
    world.start_agent();
    world.create("web");
    auto old_list = world.slurm.load_all();
    world.end_containers("web", 7);
    CHECK(world.only_job().completions == 1);

    world.deliver(JobsLoaded{old_list});
    world.pass(seconds(120));

    CHECK(world.only_job().status == 7 << 8);
    CHECK(world.only_job().completions == 1);
}

TEST_CASE("an epilog that nobody knows is let go once no container can be "
          "alive")
{
    World world;
    world.slurm.add_node("kn1");
    world.slurm.plant(description_of(make_pod("web")));
    world.slurm.schedule();
    world.slurm.scancel(1);

    world.start_agent();

    CHECK_FALSE(world.slurm.job(1).epilog_held);
}

TEST_CASE("before the lists are complete no epilog is let go")
{
    World world;
    world.slurm.add_node("kn1");
    Pod pod = make_pod("web");
    world.slurm.plant(description_of(pod));
    world.slurm.schedule();
    pod.phase = "Running";
    world.kube.put(with_binding(pod, world.slurm.job(1).job, "kn1"));
    world.slurm.scancel(1);

    world.start_agent_unlisted();
    world.pass(seconds(20));
    CHECK(world.slurm.job(1).epilog_held); // the API server is slow

    world.send_lists();
    world.pass(seconds(20));
    CHECK(world.slurm.job(1).epilog_held); // the Pod is being ended
    CHECK(world.pod("web")->deleting);

    world.finish_deletion("web");
    CHECK_FALSE(world.slurm.job(1).epilog_held);
}

TEST_CASE("the epilog of a job that is purged waits for its Pod all the same")
{
    World world;
    world.slurm.add_node("kn1");
    Pod pod = make_pod("web");
    world.slurm.plant(description_of(pod));
    world.slurm.schedule();
    const Job job = world.slurm.job(1).job;
    pod.phase = "Running";
    world.kube.put(with_binding(pod, job, "kn1"));
    world.slurm.purge(1);
    world.start_agent();

    world.deliver(HookReceived{
        {.type = HookMessage::Type::ended, .job = job.ref, .nodes = "kn1"}});
    world.pass(seconds(10));
    CHECK(world.slurm.cleans == 0);

    world.delete_as_user("web");
    world.finish_deletion("web");
    world.pass(seconds(3));
    CHECK(world.slurm.cleans == 1);
}

TEST_CASE("a waiting Pod whose job is lost gets a new one")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    world.create("web");
    CHECK(world.node_of("web") == "");

    world.slurm.purge(2); // a crash lost it
    world.pass(seconds(5));

    CHECK(world.slurm.jobs().size() == 2);
    world.end_containers("first", 0);
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("a running Pod whose job is lost is never ended for that")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.start_agent();
    world.create("web");
    world.run_containers("web");

    world.slurm.purge(1);
    world.pass(seconds(60));

    CHECK_FALSE(world.pod("web")->deleting);
    CHECK(world.pod("web")->phase == "Running");
    CHECK(world.slurm.jobs().empty());
}

TEST_CASE("a job on a node that no Node stands for is replaced, a generation "
          "on")
{
    World world;
    world.start_agent();
    add_misfit(world);

    world.create("web");
    world.slurm.remove_node("a-misfit");
    world.pass(seconds(10));

    check_runs_once(world);
    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK_FALSE(world.slurm.job(1).epilog_held);
    CHECK(world.slurm.living()[0].job.tag.generation == 1);
    CHECK(world.pod("web")->annotation(names::generation_annotation) == "1");
}

TEST_CASE("a misfit that stays is met with pauses")
{
    World world;
    world.start_agent();
    add_misfit(world);

    world.create("web");
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().size() < 35);
    CHECK(world.slurm.living().size() <= 1);
    CHECK(world.kube.count("annotate") < 35);
    CHECK(world.kube.count("fail_pod") == 0);
}

TEST_CASE("a user's scancel of a replaced job is the user's")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    add_misfit(world);
    world.create("web");
    world.slurm.remove_node("a-misfit");
    world.pass(seconds(5));
    REQUIRE(world.slurm.living().size() == 2);
    const JobRef second = world.slurm.living()[1].job.ref;
    REQUIRE(world.slurm.job(second.id).job.state == JobState::pending);

    world.slurm.scancel(second.id);
    world.pass(seconds(5));

    CHECK(world.pod("web")->phase == "Failed");
    CHECK(world.slurm.living().size() == 1);
}

TEST_CASE("the successor of a replaced job is found when its submit is "
          "uncertain")
{
    World world;
    world.start_agent();
    add_misfit(world);
    world.kube.put(make_pod("web"));
    while (world.slurm.count("cancel") == 0)
        world.step(1);
    world.slurm.remove_node("a-misfit");
    world.slurm.lose_reply("submit");

    world.pass(seconds(10));

    CHECK(world.slurm.jobs().size() == 2);
    check_runs_once(world);
}

TEST_CASE("a list that comes while that is uncertain does not end the "
          "successor")
{
    World world;
    world.start_agent();
    add_misfit(world);
    world.kube.put(make_pod("web"));
    while (world.slurm.count("cancel") == 0)
        world.step(1);
    world.slurm.remove_node("a-misfit");
    world.slurm.lose_reply("submit");
    for (int i = 0; i < 3; i++)
        world.slurm.fail_next("load_all", Code::busy);
    world.pass(seconds(2)); // submitted, and the search for it has failed
    REQUIRE(world.slurm.jobs().size() == 2);

    world.slurm.heal("load_all");
    auto list = world.slurm.load_all();
    while (!list)
        list = world.slurm.load_all();
    world.deliver(JobsLoaded{list});
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().size() == 2);
    check_runs_once(world);
}

TEST_CASE("of several jobs that a search finds, the living one is taken")
{
    World world;
    Pod pod = make_pod("web");
    world.slurm.plant(description_of(pod));
    world.start_agent();
    world.slurm.scancel(1);
    world.slurm.lose_reply("submit");

    // The Pod comes after its first job was cancelled as an orphan's.
    world.pass(seconds(65));
    world.create(pod);
    world.pass(seconds(10));

    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.node_of("web") != "");
}

TEST_CASE("Pods that could not be ended are ended later")
{
    World world;
    world.start_agent();
    world.create("web");
    world.kube.fail_next("delete_pod", Code::busy);

    world.slurm.scancel(1);
    world.settle();
    CHECK_FALSE(world.pod("web")->deleting);
    world.pass(seconds(3));

    CHECK(world.pod("web")->deleting);
}

TEST_CASE("a Pod that changed meanwhile is failed at the second attempt")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    world.create("web");
    world.kube.fail_next("fail_pod", Code::conflict);

    world.slurm.scancel(2);
    world.pass(seconds(10));

    CHECK(world.pod("web")->phase == "Failed");
    CHECK(world.kube.count("fail_pod") == 2);
}

TEST_CASE("a job that is suspended keeps its Pod, and ends with it")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.start_agent();
    world.create("web");
    world.slurm.suspend(1);
    world.pass(seconds(25));
    CHECK_FALSE(world.pod("web")->deleting);

    world.end_containers("web", 0);
    world.pass(seconds(25));

    CHECK(world.slurm.living().empty());
}

TEST_CASE("a reused JobId does not touch the Pod of its first job")
{
    World world;
    world.start_agent();
    world.create("web");
    JobRef stranger{1, Sluid{999999}};

    world.deliver(HookReceived{{.type = HookMessage::Type::allocated,
                                .job = stranger,
                                .nodes = "kn1",
                                .ours = true}});
    world.deliver(HookReceived{
        {.type = HookMessage::Type::ended, .job = stranger, .nodes = "kn1"}});
    world.pass(seconds(10));

    CHECK_FALSE(world.pod("web")->deleting);
    CHECK(world.only_job().job.state == JobState::running);
    CHECK(world.slurm.cleans == 1); // the stranger's
}

TEST_CASE("while every call hangs the agent rests, and goes on when they are "
          "back")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    world.create("web"); // waits, so that states are asked for
    world.calls_hang = true;

    world.pass(seconds(400)); // settle() checks the next deadline each time

    world.calls_hang = false;
    world.end_containers("first", 0);
    world.pass(seconds(5));
    CHECK(world.node_of("web") == "kn1");
}

TEST_CASE("a job that a crash of slurmctld brought back is ended again")
{
    World world;
    world.conf.resync_interval = seconds(10);
    world.start_agent();
    world.create("web");
    world.end_containers("web", 0);
    REQUIRE(world.only_job().job.state == JobState::completed);

    world.slurm.resurrect(1);
    world.pass(seconds(90));

    CHECK(world.slurm.living().empty());
}

TEST_CASE("a job that had to give way before its Pod was bound is followed by "
          "another")
{
    for (JobState state : {JobState::preempted, JobState::node_fail}) {
        CAPTURE(state_name(state));
        World world;
        world.start_agent();
        world.kube.fail_next("bind", Code::busy);
        world.create("web");

        world.slurm.end_job(1, state);
        world.pass(seconds(10));

        CHECK(world.slurm.living().size() == 1);
        CHECK(world.node_of("web") != "");
        CHECK_FALSE(world.slurm.job(1).epilog_held);
        CHECK(world.slurm.job(1).completions == 0); // its end stays Slurm's
    }
}

TEST_CASE("an allocation onto which nothing can be bound is given back in time")
{
    World world;
    world.conf.bind_timeout = seconds(20);
    world.start_agent();
    for (int i = 0; i < 100; i++)
        world.kube.fail_next("bind", Code::busy);

    world.create("web");
    world.pass(seconds(60));

    CHECK(world.slurm.job(1).job.state == JobState::cancelled);
    CHECK(world.slurm.living().size() == 1);
    CHECK(world.pod("web")->phase == "Pending");
}

// Slurm frees a node as soon as a job ends there.
TEST_CASE("no Pod is bound beside containers that take the place it needs")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(make_pod("old", MilliCpu{16000}));
    world.slurm.scancel(1);
    world.settle();
    REQUIRE(world.pod("old")->deleting);

    world.create(make_pod("web", MilliCpu{16000}));
    world.pass(seconds(25));
    CHECK(world.slurm.job(2).job.state == JobState::configuring);
    CHECK(world.node_of("web") == "");

    world.finish_deletion("old");
    CHECK(world.node_of("web") == "kn1"); // without the clock moving
}

TEST_CASE("a slow stopper does not stop a whole node")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(make_pod("old", MilliCpu{8000}));
    world.slurm.scancel(1);
    world.settle();

    world.create(make_pod("web", MilliCpu{8000}));

    CHECK(world.node_of("web") == "kn1");
}

// Fail closed: an API server that lists too little must not end a job.
TEST_CASE("a Pod that a list lacks, and that is there, keeps its job")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");

    world.deliver(Listed<Pod>{"slurm", {}});
    world.pass(seconds(30));
    CHECK(world.only_job().job.state == JobState::running);

    world.send_lists();
    world.pass(seconds(90));
    CHECK(world.only_job().job.state == JobState::running);
    world.end_containers("web", 7);
    CHECK(world.only_job().status == 7 << 8);
}

TEST_CASE("the slurmctld of another cluster on our socket is a problem")
{
    World world;
    world.start_agent();

    world.deliver(HookReceived{{.type = HookMessage::Type::hello,
                                .version = hook_protocol_version,
                                .cluster = "other",
                                .host = "h"}});

    CHECK(world.status().find("another cluster") != std::string::npos);
}
