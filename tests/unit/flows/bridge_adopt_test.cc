// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that live and whose job Slurm has lost, or says has failed with its
// node; Nodes that are lost.
#include "common/contract/names.h"
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

// A Pod that runs on one of two nodes.
void start_running(World &world)
{
    world.conf.resync_interval = seconds(10);
    world.nodes = {make_node("kn1"), make_node("kn2")};
    world.start_agent();
    world.create("web");
    world.run_containers("web");
}

void check_unharmed(const World &world)
{
    CHECK(world.pod("web")->phase == "Running");
    CHECK_FALSE(told_to_end(*world.pod("web")));
    CHECK(world.kube.count("bind") == 1);
}

// Its one job covers it where it is, and its stamps say so.
void check_adopted_by(World &world, JobId id)
{
    check_unharmed(world);
    const auto &record = world.slurm.job(id);
    CHECK(record.job.state == JobState::running);
    CHECK(record.job.nodes == std::vector<std::string>{world.node_of("web")});
    CHECK(binder_of(*world.pod("web")) == record.job.ref);
    CHECK(world.allocation_count() == 1);
}

void set_ready(World &world, const std::string &name, bool ready)
{
    Node node = make_node(name);
    node.ready = ready;
    world.deliver(Changed<Node>{node, false});
}

} // namespace

TEST_CASE("a running Pod whose job is lost gets a new one where it is")
{
    World world;
    start_running(world);

    world.slurm.purge(1);
    world.pass(seconds(30));

    check_adopted_by(world, 2);
    CHECK(world.slurm.job(2).asked.priority.has_value());
    CHECK(world.slurm.job(2).asked.tag.generation == 1);
    world.end_containers("web", 7);
    CHECK(world.slurm.job(2).status == 7 << 8);
}

// The list of pinned nodes changes with each Pod that is adopted.
TEST_CASE(
    "a job that slurmctld has refused keeps its pause while others are adopted")
{
    World world;
    start_running(world);
    world.slurm.fail_next("submit", Code::rejected);
    world.create("refused");
    REQUIRE(world.slurm.count("submit") == 2);

    world.slurm.purge(1);
    world.cut_socket();
    world.connect_socket(); // brings a list
    world.pass(seconds(2));

    check_unharmed(world);
    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living().front().job.tag.gang == "default/web");
    CHECK(world.slurm.count("submit") == 3);
    world.pass(seconds(10));
    CHECK(world.slurm.living().size() == 2);
}

// Slurm has given away what the Pod uses before anybody could ask for it.
TEST_CASE(
    "jobs that hold the room of a Pod without a job give way to its new one")
{
    World world;
    world.nodes = {make_node("kn1")};
    world.conf.resync_interval = seconds(10);
    world.start_agent();
    world.create(make_pod("web", MilliCpu{16000}));
    world.run_containers("web");
    world.create(make_pod("first", MilliCpu{8000}));
    world.create(make_pod("second", MilliCpu{8000}));

    world.slurm.purge(1);
    world.slurm.schedule();
    CHECK(world.slurm.job(2).job.state == JobState::configuring);
    CHECK(world.slurm.job(3).job.state == JobState::configuring);
    world.pass(seconds(40));

    CHECK(world.slurm.job(2).job.state == JobState::cancelled);
    CHECK(world.slurm.job(3).job.state == JobState::cancelled);
    CHECK(binder_of(*world.pod("web")).has_value());
    JobRef adopter = binder_of(*world.pod("web")).value_or(JobRef{});
    CHECK(adopter.id > 3);
    CHECK(world.slurm.job(adopter.id).job.state == JobState::running);
    CHECK(world.node_of("first").empty());
    CHECK(world.node_of("second").empty());
    CHECK_FALSE(world.slurm.node("kn1").drained);

    world.end_containers("web", 0);
    world.pass(seconds(10));
    CHECK(world.node_of("first") == "kn1");
    CHECK(world.node_of("second") == "kn1");
}

TEST_CASE(
    "killed anywhere while it adopts: one job in the end, the Pod unharmed")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        World world;
        start_running(world);
        world.slurm.purge(1);
        world.kill_agent();
        world.start_agent_unlisted();
        world.send_lists();

        world.step(steps);
        world.kill_agent();
        world.slurm.schedule();
        world.start_agent();
        world.pass(seconds(40));

        check_unharmed(world);
        CHECK(world.allocation_count() == 1);
        CHECK(world.slurm.living().size() == 1);
        CHECK(binder_of(*world.pod("web")) == world.slurm.living()[0].job.ref);
    }
}

TEST_CASE("a job that the accounting database calls cancelled is not made anew")
{
    for (JobState state :
         {JobState::cancelled, JobState::timeout, JobState::preempted}) {
        CAPTURE(state_name(state));
        World world;
        start_running(world);
        world.slurm.account(world.slurm.job(1).job.ref, state);

        world.slurm.purge(1);
        world.pass(seconds(30));

        CHECK(told_to_end(*world.pod("web")));
        CHECK(world.slurm.count("submit") == 1);
    }
}

// It says so of jobs that a crash lost, after an administrator's clean-up.
TEST_CASE(
    "a job that the accounting database calls completed says nothing of a "
    "Pod that runs")
{
    World world;
    start_running(world);
    world.slurm.account(world.slurm.job(1).job.ref, JobState::completed);

    world.slurm.purge(1);
    world.pass(seconds(30));

    check_adopted_by(world, 2);
}

TEST_CASE("a database that does not answer delays, and ends nothing")
{
    World world;
    start_running(world);
    world.slurm.fail_next("recall", Code::busy);

    world.slurm.purge(1);
    world.pass(seconds(40));

    check_adopted_by(world, 2);
}

TEST_CASE(
    "when Slurm says that the node failed and the node is well, the Pod gets "
    "a new job")
{
    World world;
    start_running(world);

    world.slurm.end_job(1, JobState::node_fail);
    world.pass(seconds(30));

    check_adopted_by(world, 2);
    CHECK_FALSE(world.slurm.job(1).epilog_held);
}

// After a restart slurmctld gives a node on which an epilog is held to nobody.
TEST_CASE(
    "the epilog of a job that failed is let go before the next adopts its Pod")
{
    World world;
    start_running(world);
    world.slurm.set_drained(world.node_of("web"), "no job may start here");

    world.slurm.end_job(1, JobState::node_fail);
    CHECK(world.slurm.job(1).epilog_held);
    world.pass(seconds(10));

    CHECK(world.slurm.job(2).job.state == JobState::pending);
    CHECK_FALSE(world.slurm.job(1).epilog_held);
    CHECK(world.slurm.dirty() == world.node_of("web"));
}

TEST_CASE("when an administrator has set the node DOWN, its Pods end")
{
    World world;
    start_running(world);

    world.slurm.set_down(world.node_of("web"));
    world.pass(seconds(5));

    CHECK(world.pod("web")->active_deadline == 1);
    CHECK(world.pod("web")->disruption == "SlurmNodeFail");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("a Pod that no job may be made for lives on, and its owner is told")
{
    World world;
    start_running(world);
    world.slurm.fail_always("submit", Code::rejected);

    world.slurm.purge(1);
    world.pass(seconds(30));

    check_unharmed(world);
    CHECK(world.kube.events().back().second.reason == "SlurmJobNotAdopted");
    world.slurm.heal("submit");
    world.pass(seconds(600));
    check_adopted_by(world, 2);
}

TEST_CASE("the feature of the one node goes when nobody needs it")
{
    World world;
    start_running(world);
    world.slurm.purge(1);
    world.pass(seconds(30));
    std::string pin = names::pin_prefix + world.node_of("web");
    CHECK(world.slurm.job(2).asked.features == "k8s&" + pin);

    world.deliver(Listed<Node>{"", world.nodes});
    world.pass(seconds(5));

    auto nodes = world.slurm.load_nodes();
    for (const SlurmNode &node : *nodes)
        CHECK(node.features.find(pin) == std::string::npos);
    check_adopted_by(world, 2);
}

TEST_CASE("the job of a Pod that is being deleted on a lost Node ends, and no "
          "container is taken for gone")
{
    World world;
    start_running(world);
    std::string where = world.node_of("web");
    set_ready(world, where, false);
    world.delete_as_user("web");

    world.pass(seconds(290));
    CHECK(world.slurm.living().size() == 1);
    world.pass(seconds(20));

    CHECK(world.only_job().status == 1 << 8);
    CHECK(world.only_job().comment.starts_with("NodeLost"));
    CHECK(world.only_job().epilog_held);
    set_ready(world, where, true);
    world.finish_deletion("web");
    CHECK_FALSE(world.only_job().epilog_held);
}

TEST_CASE("a Node that was not ready for a while changes nothing")
{
    World world;
    start_running(world);
    std::string where = world.node_of("web");

    set_ready(world, where, false);
    world.pass(seconds(290));
    set_ready(world, where, true);
    world.pass(seconds(5));
    set_ready(world, where, false);
    world.delete_as_user("web");
    world.pass(seconds(290));

    CHECK(world.slurm.living().size() == 1);
}

TEST_CASE("when many Nodes fall ill together, nothing is concluded")
{
    World world;
    start_running(world);
    std::string where = world.node_of("web");
    set_ready(world, where, false);
    for (int i = 0; i < 5; i++)
        set_ready(world, "other-" + std::to_string(i), false);
    world.delete_as_user("web");

    world.pass(seconds(400));
    CHECK(world.slurm.living().size() == 1);
    CHECK(world.status().find("many Nodes") != std::string::npos);

    Node node = make_node(where);
    node.ready = false;
    node.taints = {{"node.kubernetes.io/out-of-service", "", "NoExecute"}};
    world.deliver(Changed<Node>{node, false});
    world.pass(seconds(5));
    CHECK(world.slurm.living().empty());
}
