// SPDX-License-Identifier: GPL-2.0-or-later
// The life of one Pod, from its creation to the end of its job, when nothing
// breaks.
#include "tests/unit/flows/full_cluster.h"

#include "common/base/json.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

std::size_t events_with(const World &world, const std::string &reason)
{
    std::size_t count = 0;
    for (const auto &[key, event] : world.kube.events())
        count += event.reason == reason;
    return count;
}

} // namespace

TEST_CASE("a Pod is submitted, bound where Slurm allocates, and started")
{
    World world;
    world.start_agent();

    world.create("web");

    const FakeSlurm::Record &job = world.only_job();
    CHECK(job.job.state == JobState::running);
    CHECK(job.asked.name == "web");
    CHECK(job.asked.tag == GangTag{"default/web", "uid-web", 0});
    Pod pod = *world.pod("web");
    CHECK(pod.node_name == job.job.nodes[0]);
    CHECK(pod.label(names::job_id_label) == std::to_string(job.job.ref.id));
    CHECK(pod.annotation(names::sluid_annotation) == job.job.ref.sluid.str());
    CHECK(world.kube.count("bind") == 1);
    CHECK(world.slurm.starts == 1);
    CHECK(events_with(world, "Scheduled") == 1);
    CHECK(world.kube.count("set_unscheduled") == 0);
}

TEST_CASE("a Pod's whole life costs slurmctld three RPCs")
{
    World world;
    world.start_agent();
    world.slurm.forget_calls();

    world.create("web");
    world.run_containers("web");
    world.end_containers("web", 0);

    CHECK(world.only_job().job.state == JobState::completed);
    CHECK(world.slurm.count("submit") == 1);
    CHECK(world.slurm.count("load") == 1);
    CHECK(world.slurm.count("complete") == 1);
    CHECK(world.slurm.calls() == 3);
}

TEST_CASE("an allocation that is told with its CPUs is not read again")
{
    World world;
    world.slurm.says_cpus = true;
    world.start_agent();
    world.slurm.forget_calls();

    world.create("web");
    CHECK(!world.node_of("web").empty());
    world.run_containers("web");
    world.end_containers("web", 0);

    CHECK(world.only_job().job.state == JobState::completed);
    CHECK(world.kube.count("bind") == 1);
    CHECK(world.slurm.starts == 1);
    CHECK(world.slurm.calls() == 2);
}

TEST_CASE("an allocation that is told and does not fit is replaced")
{
    World world;
    world.slurm.says_cpus = true;
    Pod pod = make_pod("web");
    pod.requests.cpu = MilliCpu{1000};
    world.start_agent();
    world.cut_socket(); // nothing is told until the hook below
    world.create(pod);
    JobRef job = world.only_job().job.ref;

    world.deliver(HookReceived{{.type = HookMessage::Type::allocated,
                                .job = job,
                                .nodes = "no-such-node",
                                .cpus = 1,
                                .ours = true}});

    CHECK(world.kube.count("bind") == 0);
    CHECK(world.kube.count("stamp") == 1); // the generation is raised first
}

TEST_CASE("a Pod's end is its job's end, exit code and all")
{
    struct Row {
        int exit_code;
        int status;
        JobState state;
    };
    for (Row row :
         {Row{0, 0, JobState::completed}, Row{7, 7 << 8, JobState::failed},
          Row{137, 137 << 8, JobState::failed}}) {
        CAPTURE(row.exit_code);
        World world;
        world.start_agent();
        world.create("web");
        world.run_containers("web");

        world.end_containers("web", row.exit_code);

        CHECK(world.only_job().status == row.status);
        CHECK(world.only_job().job.state == row.state);
        CHECK(world.only_job().completions == 1);
        CHECK_FALSE(world.only_job().epilog_held);
        CHECK(world.slurm.count("set_comment") == 0);
    }
}

TEST_CASE("an eviction fails the job with kubelet's words on it")
{
    World world;
    world.start_agent();
    world.create("web");

    world.kube.change({"default", "web"}, [](Pod &p) {
        p.phase = "Failed";
        p.reason = "Evicted";
        p.message = "low on memory";
    });
    world.settle();

    CHECK(world.only_job().job.state == JobState::failed);
    CHECK(world.only_job().comment == "Evicted: low on memory");
}

TEST_CASE("resources are free for the next Pod as soon as one has ended")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.create(large_pod("first"));
    world.create(large_pod("second"));
    CHECK(world.node_of("first") == "kn1");
    CHECK(world.node_of("second") == "");

    world.end_containers("first", 0);

    CHECK(world.node_of("second") == "kn1"); // without the clock moving
    CHECK(world.allocation_count() == 1);
}

TEST_CASE("a Pod that is deleted while it waits cancels its job")
{
    World world;
    world.start_agent();
    fill_cluster(world);
    world.create(large_pod("web"));
    CHECK(world.slurm.living().size() == 3);

    world.delete_as_user("web");

    CHECK(world.slurm.living().size() == 2);
    CHECK(world.slurm.jobs().rbegin()->second.job.state == JobState::cancelled);
    CHECK(world.kube.count("bind") == 0);
}

TEST_CASE("a Pod that is deleted while it runs holds its job until its "
          "containers are gone")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");

    world.delete_as_user("web");
    world.pass(seconds(60));
    CHECK(world.only_job().job.state == JobState::running);

    world.finish_deletion("web");

    CHECK(world.only_job().job.state == JobState::cancelled);
    CHECK_FALSE(world.only_job().epilog_held);
    CHECK(world.kube.count("delete_pod") == 0);
}

TEST_CASE("an scancel of a pending job fails its Pod, which is not submitted "
          "again")
{
    World world;
    world.start_agent();
    fill_cluster(world);
    world.create(large_pod("web"));
    const JobId job = world.slurm.jobs().rbegin()->first;

    world.slurm.scancel(job); // no hook tells of it
    world.pass(seconds(3));

    Pod pod = *world.pod("web");
    CHECK(pod.phase == "Failed");
    CHECK(pod.reason == "SlurmJobCancelled");
    CHECK(pod.message.find("CANCELLED") != std::string::npos);
    CHECK(events_with(world, "SlurmJobCancelled") == 1);
    world.pass(seconds(60));
    CHECK(world.slurm.jobs().size() == 3);
    CHECK(world.kube.count("fail_pod") == 1);
}

TEST_CASE("an scancel of a running job ends its Pod, and the epilog is held "
          "until that is gone")
{
    World world;
    world.start_agent();
    world.create("web");
    world.run_containers("web");

    world.slurm.scancel(world.only_job().job.ref.id);
    world.settle();

    CHECK(world.pod("web")->active_deadline == 1);
    CHECK(world.kube.count("expire_pod") == 1);
    CHECK(events_with(world, "SlurmJobEnded") == 1);
    CHECK(world.pod("web")->disruption == "");
    world.pass(seconds(29));
    CHECK(world.only_job().epilog_held);

    world.end_containers("web", 137);

    CHECK_FALSE(world.only_job().epilog_held);
    CHECK(world.slurm.cleans == 1);
    CHECK(world.kube.count("expire_pod") == 1);
    CHECK(world.kube.count("delete_pod") == 0); // object and logs stay
    CHECK(world.slurm.count("complete") == 0);  // Slurm's own end stands
}

TEST_CASE("a Pod that does not end when it is told to is deleted in the end")
{
    World world;
    world.start_agent();
    world.create("web"); // its grace period is 30 s
    world.run_containers("web");
    world.slurm.scancel(1);

    world.pass(seconds(55));
    CHECK(world.kube.count("delete_pod") == 0);
    world.pass(seconds(10));

    CHECK(world.kube.count("delete_pod") == 1);
    CHECK(events_with(world, "SlurmJobEnded") == 1);
    world.pass(seconds(120));
    CHECK(world.only_job().epilog_held); // until somebody says it is gone
    world.finish_deletion("web");
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE(
    "a Pod that was preempted is evicted, or ended where that is forbidden")
{
    for (bool forbidden : {false, true}) {
        CAPTURE(forbidden);
        World world;
        world.kube.budget_exhausted = forbidden;
        world.start_agent();
        world.create("web");
        world.run_containers("web");

        world.slurm.end_job(1, JobState::preempted);
        world.settle();

        CHECK(world.pod("web")->disruption == "PreemptionByScheduler");
        CHECK(events_with(world, "Preempted") == 1);
        CHECK(world.kube.count("evict_pod") == 1);
        CHECK(world.pod("web")->deleting == !forbidden);
        CHECK(world.kube.count("expire_pod") == (forbidden ? 1 : 0));
    }
}

TEST_CASE("an scancel before the binding leaves nothing behind")
{
    World world;
    world.start_agent();
    world.kube.fail_next("bind", Code::busy);
    world.create("web");
    CHECK(world.only_job().job.state == JobState::configuring);

    world.slurm.scancel(world.only_job().job.ref.id);
    world.settle();

    CHECK(world.pod("web")->phase == "Failed");
    CHECK_FALSE(world.only_job().epilog_held);
    world.pass(seconds(30));
    CHECK(world.kube.count("bind") == 1);
}

TEST_CASE("whatever ended the job is said on its Pod")
{
    for (JobState state : {JobState::timeout, JobState::preempted,
                           JobState::completed, JobState::failed}) {
        CAPTURE(state_name(state));
        World world;
        world.start_agent();
        world.create("web");

        world.slurm.end_job(world.only_job().job.ref.id, state);
        world.settle();

        CHECK(world.pod("web")->deleting);
        REQUIRE_FALSE(world.kube.events().empty());
        CHECK(world.kube.events().back().second.note.find(state_name(state)) !=
              std::string::npos);
    }
}

TEST_CASE("a gated Pod gets its job when the gates are gone")
{
    World world;
    world.start_agent();
    Pod gated = make_pod("web");
    gated.gated = true;
    world.create(gated);
    CHECK(world.slurm.jobs().empty());

    world.kube.change({"default", "web"}, [](Pod &p) { p.gated = false; });
    world.settle();

    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("a Pod that came with a node is nobody's business here")
{
    World world;
    world.start_agent();
    Pod foreign = make_pod("web");
    foreign.node_name = "kn1";

    world.create(foreign);
    world.pass(seconds(10));
    world.delete_as_user("web");
    world.finish_deletion("web");

    for (const auto &[id, record] : world.slurm.jobs())
        CHECK(record.job.tag.uid.empty()); // a shadow held its room
    CHECK(world.kube.calls().empty());
}

TEST_CASE("a Pod that asks what we cannot give is refused in words")
{
    World world;
    world.start_agent();
    Pod pod = make_pod("web");
    pod.unfit_reasons = {"hostPort is not supported by slurm-k8s-bridge yet"};

    world.create(pod);
    world.pass(seconds(30));

    CHECK(world.slurm.jobs().empty());
    CHECK(world.said_on("web").find("hostPort") != std::string::npos);
    CHECK(world.kube.count("set_unscheduled") == 1);
}

TEST_CASE("a Pod made again under its name is another Pod with another job")
{
    World world;
    world.start_agent();
    world.create("web");
    world.delete_as_user("web");
    world.finish_deletion("web");
    Pod again = make_pod("web");
    again.uid = "uid-again";

    world.create(again);

    CHECK(world.slurm.jobs().size() == 2);
    CHECK(world.allocation_count() == 1);
    CHECK(world.node_of("web") != "");
}

TEST_CASE("hooks of jobs that are not ours are passed over")
{
    World world;
    world.start_agent();
    fill_cluster(world);
    world.settle();

    CHECK(world.slurm.starts == 0);
    CHECK(world.slurm.cleans == 0);
    CHECK(world.slurm.count("load") == 0);
}

TEST_CASE("a cordoned Node is drained, and taken back")
{
    World world;
    world.start_agent();
    Node cordoned = make_node("kn1");
    cordoned.unschedulable = true;

    world.deliver(Changed<Node>{cordoned, false});
    CHECK((*world.slurm.load_nodes())[0].drained);
    world.deliver(Changed<Node>{cordoned, false});
    CHECK(world.slurm.count("drain") == 1);

    world.deliver(Changed<Node>{make_node("kn1"), false});
    CHECK_FALSE((*world.slurm.load_nodes())[0].drained);
}

TEST_CASE("a Node that cannot be taken does not keep the others waiting")
{
    World world;
    Node bad = make_node("bad");
    bad.unfit_reason = "allocatable cpu is none";
    world.nodes.push_back(bad);
    world.start_agent();
    Node cordoned = make_node("kn1");
    cordoned.unschedulable = true;

    world.deliver(Changed<Node>{cordoned, false});
    world.pass(seconds(3));

    CHECK((*world.slurm.load_nodes())[0].drained);
}

TEST_CASE("a Node that goes away gets no more Pods")
{
    World world;
    world.start_agent();

    world.deliver(Changed<Node>{make_node("kn1"), true});
    world.create("web");
    world.pass(seconds(5));

    CHECK(world.node_of("web") == "kn2");
}

TEST_CASE("a Node that goes away gets no Pod of a job that Slurm has put there")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.start_agent();
    world.slurm.hold(1);
    world.create("web");

    world.slurm.fail_always("load_nodes", Code::busy); // it cannot be told
    world.deliver(Changed<Node>{make_node("kn1"), true});
    world.slurm.release(1);
    world.pass(seconds(5));

    CHECK(world.slurm.job(1).job.nodes == std::vector<std::string>{"kn1"});
    CHECK(world.kube.count("bind") == 0);
    CHECK(world.node_of("web").empty());
}

TEST_CASE("a new configuration takes effect and stops nothing")
{
    World world;
    world.start_agent();
    Conf conf = world.conf;
    conf.partition = "pods";
    conf.scheduler_names = {"slurm", "slurm-bridge-scheduler"};

    world.deliver(Reload{std::make_shared<const Conf>(conf)});
    world.create("web");

    CHECK(world.only_job().asked.partition == "pods");
    CHECK(world.node_of("web") != "");
}

TEST_CASE("status and metrics say what is going on")
{
    World world;
    world.start_agent();
    world.create("web");
    world.cut_socket();
    world.settle();

    auto status = Json::parse(world.status());

    REQUIRE(status);
    CHECK(status->flag("serving"));
    CHECK(status->text("gangs/0/gang") == "default/web");
    CHECK(status->text("gangs/0/state") == "RUNNING");
    CHECK(status->at("problems").member("prep/k8s").present());
    CHECK(world.metrics().find("slurmk8sd_gangs{job_state=\"RUNNING\"} 1\n") !=
          std::string::npos);
    CHECK(world.metrics().find("action=\"bind\",result=\"ok\"} 1\n") !=
          std::string::npos);
}

TEST_CASE("a thousand Pods all run, each once")
{
    World world;
    world.nodes.clear();
    for (int i = 0; i < 64; i++)
        world.nodes.push_back(make_node("n" + std::to_string(i)));
    world.start_agent();
    for (int i = 0; i < 1000; i++)
        world.kube.put(make_pod("web-" + std::to_string(i)));
    world.slurm.forget_calls();

    world.settle();

    CHECK(world.allocation_count() == 1000);
    CHECK(world.kube.count("bind") == 1000);
    CHECK(world.slurm.calls() == 2000);
    for (const Pod &pod : world.kube.pods())
        CHECK(pod.bound());
}

TEST_CASE("nothing is done before the Pods of every scheduler name are listed")
{
    World world;
    world.conf.scheduler_names = {"slurm", "slurm-bridge-scheduler"};
    world.start_agent_unlisted();
    world.deliver(Listed<ForeignPod>{"", {}});
    world.deliver(Listed<Node>{"", world.nodes});
    world.deliver(Listed<Namespace>{"", world.namespaces});
    world.deliver(Listed<Pod>{"slurm", {world.kube.put(make_pod("web"))}});
    world.pass(seconds(10));
    CHECK(world.slurm.jobs().empty());

    world.deliver(Listed<Pod>{"slurm-bridge-scheduler", {}});

    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("the agent's own loop serves until it is stopped")
{
    World world;
    world.start_agent();

    world.run_agent_until_stop();

    CHECK(world.status().find("\"serving\":true") != std::string::npos);
}
