// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/sync.h"
#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/make_nodes.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Result<NodeSyncResult> sync_all(const std::vector<Node> &nodes, Slurm &slurm,
                                const Conf &conf = {},
                                const FeatureWishes &wishes = {})
{
    NodePlanInput input = make_input(nodes);
    input.wishes = wishes;
    NodeSyncState state;
    state.rebuild_due = false;
    return sync_nodes({input, true}, slurm, conf, state);
}

// A slurmd registers between the agent's reading of the nodes and its writing.
class RegistersMeanwhile : public FakeSlurm {
  public:
    Result<std::vector<SlurmNode>> load_nodes() override
    {
        if (count("load_nodes") == 1)
            (void)FakeSlurm::set_features("n1", reported, reported);
        return FakeSlurm::load_nodes();
    }
    std::string reported = "avx";
};

} // namespace

TEST_CASE("what slurmd reports while the agent plans is not overwritten")
{
    RegistersMeanwhile slurm;
    slurm.add_real_node("n1");
    REQUIRE(slurm.set_features("n1", "avx", "avx"));
    NodeSyncState state;
    auto sync = [&] {
        return sync_nodes({make_input({make_node("n1")}), true}, slurm, {},
                          state);
    };
    SUBCASE("nothing is reported: the features are written at once")
    {
        CHECK_FALSE(sync()->retry_soon);
        CHECK(slurm.node("n1").features == "avx,k8s");
    }
    SUBCASE("a word more: it is kept, and the agent's come with the next sync")
    {
        slurm.reported = "avx,k8s.kubelet";
        CHECK(sync()->retry_soon);
        CHECK(slurm.node("n1").features == "avx,k8s.kubelet");
        CHECK_FALSE(sync()->retry_soon);
        CHECK(slurm.node("n1").features == "avx,k8s.kubelet,k8s");
    }
}

TEST_CASE("what slurmd has reported of its kubelet comes back when it is lost")
{
    FakeSlurm slurm;
    slurm.add_real_node("n1");
    NodeSyncState state;
    Node node = make_node("n1");
    auto after_sync = [&] {
        REQUIRE(sync_nodes({make_input({node}), true}, slurm, {}, state));
        return slurm.node("n1").features;
    };
    auto set = [&](const char *features) {
        REQUIRE(slurm.set_features("n1", features, features));
    };
    set("avx,k8s.kubelet,k8s.static-cpus");
    CHECK(after_sync() == "avx,k8s.kubelet,k8s.static-cpus,k8s");
    SUBCASE("an update was planned before slurmd reported it")
    {
        set("avx,k8s");
        CHECK(after_sync() == "avx,k8s,k8s.kubelet,k8s.static-cpus");
        CHECK(slurm.node("n1").active_features ==
              "avx,k8s,k8s.kubelet,k8s.static-cpus");
    }
    SUBCASE("slurmctld has begun with slurm.conf's features")
    {
        set("avx");
        CHECK(after_sync() == "avx,k8s,k8s.kubelet,k8s.static-cpus");
    }
    SUBCASE("the kubelet has another policy now: nothing is lost")
    {
        set("avx,k8s,k8s.kubelet");
        CHECK(after_sync() == "avx,k8s,k8s.kubelet");
        set("avx,k8s");
        CHECK(after_sync() == "avx,k8s,k8s.kubelet");
    }
    SUBCASE("the Node has gone: it is forgotten")
    {
        set("avx,k8s");
        REQUIRE(sync_nodes({make_input({}), true}, slurm, {}, state));
        CHECK(slurm.node("n1").features == "avx");
        CHECK(after_sync() == "avx,k8s");
    }
}

TEST_CASE("a topology that Slurm writes otherwise is not asked for again")
{
    FakeSlurm slurm;
    slurm.add_node("n1");
    Node node = make_node("n1");
    node.annotations[names::topology_annotation] = "s1";
    NodeSyncState state;
    for (int i = 0; i < 3; i++) {
        REQUIRE(sync_nodes({make_input({node}), true}, slurm, {}, state));
        slurm.set_topology_text("n1", "default:s1");
    }
    CHECK(slurm.count("set_topology") == 1);
}

TEST_CASE("partitions are made anew when a feature of theirs changed, and once "
          "at the start")
{
    FakeSlurm slurm;
    Node node = make_node("n1");
    NodeSyncState state;
    auto sync = [&] {
        REQUIRE(sync_nodes({make_input({node}), true}, slurm, {}, state));
        return slurm.count("rebuild_partitions");
    };
    CHECK(sync() == 1);
    CHECK(sync() == 1);
    node.annotations[names::external_node_partitions] = "gpu";
    slurm.fail_next("rebuild_partitions", Code::busy);
    CHECK(sync() == 2);
    CHECK(sync() == 3); // what failed is due
    CHECK(sync() == 3);
}

TEST_CASE("nothing is planned when nothing has changed on either side")
{
    FakeSlurm slurm;
    NodeSyncState state;
    NodeSyncRequest request{make_input({make_node("n1")}), true};
    REQUIRE(sync_nodes(request, slurm, {}, state));
    REQUIRE(sync_nodes(request, slurm, {}, state)); // sees what it has made
    request.changed = false;

    CHECK(sync_nodes(request, slurm, {}, state)->unchanged);
    slurm.set_drained("n1", "fan");
    CHECK_FALSE(sync_nodes(request, slurm, {}, state)->unchanged);
    CHECK(sync_nodes(request, slurm, {}, state)->unchanged);
    slurm.reservations = {{"m", {"n1"}, true, {}, {}}};
    CHECK_FALSE(sync_nodes(request, slurm, {}, state)->unchanged);
}

TEST_CASE(
    "what jobs have of nodes is no reason to plan anew, what is wished is")
{
    FakeSlurm slurm;
    NodeSyncState state;
    NodeSyncRequest request{make_input({make_node("n1")}), true};
    REQUIRE(sync_nodes(request, slurm, {}, state));
    REQUIRE(sync_nodes(request, slurm, {}, state));
    request.changed = false;

    slurm.sbatch(4);
    slurm.schedule();
    REQUIRE(slurm.load_nodes()->front().allocated_cpus == 4);
    CHECK(sync_nodes(request, slurm, {}, state)->unchanged);
    CHECK(state.table.nodes.front().allocated_cpus == 4);
    request.input.wishes.pins = {"n1"};
    CHECK_FALSE(sync_nodes(request, slurm, {}, state)->unchanged);
    CHECK_FALSE(sync_nodes(request, slurm, {}, state)->unchanged); // our doing
    CHECK(sync_nodes(request, slurm, {}, state)->unchanged);
    request.input.wishes.pins.clear();
    CHECK_FALSE(sync_nodes(request, slurm, {}, state)->unchanged);
    CHECK(slurm.node("n1").features == "k8s");
}

TEST_CASE("a node that waits to be made anew is no work before it is idle")
{
    using std::chrono::seconds;
    FakeSlurm slurm;
    Conf conf;
    conf.resize_delay = seconds(60);
    NodeSyncState state;
    NodeSyncRequest request{make_input({make_node("n1")}), true};
    request.now = Clock::time_point(seconds(1000));
    auto sync = [&](int later) {
        request.now += seconds(later);
        auto done = sync_nodes(request, slurm, conf, state);
        REQUIRE(done);
        request.changed = false;
        return !done->unchanged;
    };
    CHECK(sync(0));
    CHECK(sync(1)); // sees what it has made
    JobRef job = slurm.sbatch(4);
    slurm.schedule();
    request.input = make_input({make_node("n1", 8)});
    request.changed = true;
    CHECK(sync(1));
    while (sync(1)) // what it holds back there
        slurm.schedule();
    CHECK_FALSE(sync(100)); // a job is on it
    slurm.scancel(job.id);
    CHECK(sync(5));
    CHECK(slurm.created("n1")->cpus == 8);
    while (sync(5))
        ;
    CHECK(slurm.node("n1").cpus == 8);
}

TEST_CASE("a node that is left with Pods of ours is looked at again by itself")
{
    FakeSlurm slurm;
    slurm.add_real_node("n1");
    slurm.set_drained("n1", std::string(drain_mark) + "the Node is cordoned");
    NodeSyncState state;
    state.rebuild_due = false;
    NodeSyncRequest request{make_input({}), true};
    request.input.occupied = {"n1"};
    REQUIRE(sync_nodes(request, slurm, {}, state));
    request.changed = false;
    REQUIRE(sync_nodes(request, slurm, {}, state));
    CHECK_FALSE(sync_nodes(request, slurm, {}, state)->unchanged);
    CHECK(slurm.count("resume") == 0);

    request.input.occupied.clear();
    REQUIRE(sync_nodes(request, slurm, {}, state));
    CHECK(slurm.count("resume") == 1);
    REQUIRE(sync_nodes(request, slurm, {}, state));
    CHECK(sync_nodes(request, slurm, {}, state)->unchanged);
}

TEST_CASE("a plan that is carried out leaves nothing to do")
{
    FakeSlurm slurm;
    Node cordoned = make_node("n2");
    cordoned.unschedulable = true;
    std::vector<Node> nodes = {make_node("n1"), cordoned};

    auto first = sync_all(nodes, slurm);
    REQUIRE(first);
    CHECK(first->nodes == NodeMap{{"n1", "n1"}, {"n2", "n2"}});
    CHECK(first->warnings.empty());
    CHECK(slurm.count("create_node") == 1); // both at once
    CHECK(slurm.count("drain") == 1);

    REQUIRE(sync_all(nodes, slurm));
    CHECK(slurm.count("create_node") == 1);
    CHECK(slurm.count("drain") == 1);

    nodes[1].unschedulable = false;
    REQUIRE(sync_all(nodes, slurm));
    CHECK(slurm.count("resume") == 1);
}

TEST_CASE("a step that fails is a complaint, and the others are still taken")
{
    FakeSlurm slurm;
    slurm.fail_next("create_node", Code::rejected); // both at once
    slurm.fail_next("create_node", Code::rejected); // n1 alone

    auto result = sync_all({make_node("n1"), make_node("n2")}, slurm);

    REQUIRE(result);
    CHECK(result->warnings.size() == 1);
    CHECK(result->retry);
    REQUIRE(slurm.load_nodes()->size() == 1);
    CHECK(slurm.load_nodes()->front().name == "n2");
}

TEST_CASE("what slurmctld made before it failed is given its features again")
{
    FakeSlurm slurm;
    slurm.add_node("n1");
    slurm.hide_from_next_load("n1"); // it was made a moment later
    NodePlanInput input = make_input({make_node("n1"), make_node("n2")});
    NodeSyncState state;
    state.rebuild_due = false;

    auto result = sync_nodes({input, true}, slurm, {}, state);

    REQUIRE(result);
    CHECK(result->warnings.empty());
    CHECK(slurm.count("set_features") == 1);
    CHECK(slurm.count("rebuild_partitions") == 1);
}

TEST_CASE("nothing is planned from a list that did not come")
{
    FakeSlurm slurm;
    slurm.fail_next("load_nodes", Code::busy);

    auto result = sync_all({make_node("n1")}, slurm);

    REQUIRE_FALSE(result);
    CHECK(result.error().code == Code::busy);
    CHECK(slurm.count("create_node") == 0);
}

TEST_CASE("NodeAddress is an IP address, with a port or slurmctld's")
{
    struct Row {
        const char *text;
        const char *address; // null: refused
        int port;
    };
    const Row rows[] = {
        {"", "127.0.0.1", FakeSlurm::controller_port},
        {"10.0.0.1", "10.0.0.1", FakeSlurm::controller_port},
        {"10.0.0.1:7000", "10.0.0.1", 7000},
        {"fd00::1", "fd00::1", FakeSlurm::controller_port},
        {"localhost", nullptr, 0},
        {"10.0.0.1:", nullptr, 0},
        {"10.0.0.1:0", nullptr, 0},
        {"10.0.0.1:65536", nullptr, 0},
        {"10.0.0.1:x", nullptr, 0},
        {"10.0.0.1:70 State=DOWN", nullptr, 0},
        {"10.0.0.1 State=DOWN", nullptr, 0},
        {"10.0.0.999", nullptr, 0},
        {":7000", nullptr, 0},
    };
    for (const Row &row : rows) {
        CAPTURE(row.text);
        FakeSlurm slurm;
        Conf conf;
        conf.node_address = row.text;
        auto result = sync_all({make_node("n1")}, slurm, conf);
        CHECK(result.has_value() == (row.address != nullptr));
        if (!result || !row.address)
            continue;
        auto made = slurm.created("n1");
        REQUIRE(made);
        CHECK(made->address == row.address);
        CHECK(made->port == row.port);
    }
}
