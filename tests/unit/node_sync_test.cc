// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/node_sync.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/make.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <optional>

using namespace bridge;

namespace {

SlurmNode make_slurm_node(const std::string &name)
{
    SlurmNode node;
    node.name = name;
    node.external = true;
    node.cpus = 16;
    node.memory = MebiBytes{64000};
    node.features = "k8s";
    node.address = "127.0.0.1";
    node.port = 6817;
    return node;
}

NodePlanInput make_input(const std::vector<Node> &nodes)
{
    NodePlanInput input;
    for (const Node &node : nodes)
        input.nodes.push_back(std::make_shared<const Node>(node));
    input.foreign.emplace();
    input.dirty.emplace();
    input.address = "127.0.0.1";
    input.port = 6817;
    input.marks = {false, false};
    return input;
}

NodePlan plan_all(const std::vector<Node> &nodes,
                  const std::vector<SlurmNode> &known,
                  const DirtyNodes &dirty = std::set<std::string>{})
{
    NodePlanInput input = make_input(nodes);
    input.dirty = dirty;
    return plan_nodes(input, known);
}

NodePlan plan_of(const Node &node)
{
    return plan_all({node}, {});
}

NodePlan plan_of(const Node &node, const SlurmNode &known)
{
    return plan_all({node}, {known});
}

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

// The only step of that plan, which must be of that kind.
template <class Kind> Kind step_of(const NodePlan &plan)
{
    REQUIRE(plan.steps.size() == 1);
    REQUIRE(std::holds_alternative<Kind>(plan.steps[0]));
    return std::get<Kind>(plan.steps[0]);
}

} // namespace

TEST_CASE("a labelled Node becomes an external node of its size, rounded down")
{
    Node node = make_node("n1");
    node.allocatable.cpu = MilliCpu{15900};
    node.allocatable.memory = Bytes{(std::int64_t{64001} << 20) - 1};

    NodePlan plan = plan_of(node);

    NodeDescription made = step_of<CreateNode>(plan).node;
    CHECK(made.name == "n1");
    CHECK(made.address == "127.0.0.1");
    CHECK(made.port == 6817);
    CHECK(made.cpus == 15);
    CHECK(made.memory == MebiBytes{64000});
    CHECK(made.features == "k8s");
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
    CHECK(plan.complaints.empty());
}

TEST_CASE("only Nodes whose label says yes are taken")
{
    for (const char *value : {"true", "True", "1"}) {
        Node node = make_node("n1");
        node.labels[names::external_node_label] = value;
        CHECK(plan_of(node).steps.size() == 1);
    }
    for (const char *value : {"", "false", "0", "TRUE", "yes", "true "}) {
        CAPTURE(value);
        Node node = make_node("n1");
        node.labels[names::external_node_label] = value;
        CHECK(plan_of(node).steps.empty());
        CHECK(plan_of(node).nodes.empty());
    }
    Node bare = make_node("n1");
    bare.labels.clear();
    CHECK(plan_of(bare).steps.empty());
}

TEST_CASE("a label gives the Slurm node another name than the Node's")
{
    Node node = make_node("node-1.example.com");
    node.labels[names::slurm_nodename_label] = "n1";

    NodePlan plan = plan_of(node);

    CHECK(step_of<CreateNode>(plan).node.name == "n1");
    CHECK(plan.nodes == NodeMap{{"n1", "node-1.example.com"}});
}

TEST_CASE("partitions become features")
{
    Node node = make_node("n1");
    node.annotations[names::external_node_partitions] = "gpu, long ,,debug-1";

    CHECK(step_of<CreateNode>(plan_of(node)).node.features ==
          "k8s,gpu,long,debug-1");
}

TEST_CASE("a partition that is named twice is one feature")
{
    Node node = make_node("n1");
    node.annotations[names::external_node_partitions] = "gpu,gpu,k8s";

    CHECK(step_of<CreateNode>(plan_of(node)).node.features == "k8s,gpu");
}

TEST_CASE("no word of an annotation can say anything else to slurmctld")
{
    const std::string rows[] = {
        "gpu State=DOWN",
        "gpu\tCPUs=1",
        "gpu\nNodeName=evil",
        "a=b",
        "a&b",
        "a|b",
        "[a]",
        "(a)",
        "a*2",
        "!a",
        "a\"b",
        "a'b",
        "a#b",
        "a:b",
        std::string("a\0b", 3),
        "\xc3\xa9",
        std::string(254, 'a'),
        std::string(1000000, ';'),
    };
    for (const std::string &row : rows) {
        CAPTURE(row.substr(0, 40));
        Node node = make_node("n1");
        node.annotations[names::external_node_partitions] = "ok," + row;
        NodePlan plan = plan_of(node);
        std::string features = step_of<CreateNode>(plan).node.features;
        bool plain = std::ranges::all_of(features, [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == ',' ||
                   c == '-' || c == '_' || c == '.';
        });
        CHECK(plain);
        CHECK(features.starts_with("k8s,ok"));
        for (const std::string &complaint : plan.complaints)
            CHECK(complaint.size() < 400);
    }
}

TEST_CASE("a name that Slurm cannot have leaves the Node out with a complaint")
{
    for (const std::string &name :
         {std::string("n 1"), std::string("n1,n2"), std::string("n[1-4]"),
          std::string("n1 State=DOWN"), std::string("n\n"),
          std::string(254, 'n')}) {
        CAPTURE(name);
        Node node = make_node("node-1");
        node.labels[names::slurm_nodename_label] = name;
        NodePlan plan = plan_of(node);
        CHECK(plan.steps.empty());
        CHECK(plan.nodes.empty());
        REQUIRE(plan.complaints.size() == 1);
        CHECK(plan.complaints[0].starts_with("Node node-1 is left out"));
    }
}

TEST_CASE("a Node whose sizes are no amounts is left out with the reason")
{
    Node node = make_node("n1");
    node.objection = "allocatable cpu \"x\" is not one";

    NodePlan plan = plan_of(node);

    CHECK(plan.steps.empty());
    CHECK(plan.nodes.empty());
    CHECK(plan.complaints ==
          std::vector<std::string>{"Node n1 is left out: " + node.objection});
}

TEST_CASE("a Node whose kubelet has not said its size yet is awaited")
{
    CHECK(plan_of(make_node("n1", 0)).steps.empty());
    CHECK(plan_of(make_node("n1", 16, 0)).steps.empty());
    CHECK(plan_of(make_node("n1", 0)).nodes.empty());
    CHECK(plan_of(make_node("n1", 0)).complaints.empty());
}

TEST_CASE("what is in step needs no step")
{
    NodePlan plan = plan_of(make_node("n1"), make_slurm_node("n1"));

    CHECK(plan.steps.empty());
    CHECK(plan.complaints.empty());
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
}

TEST_CASE("features are set when they differ, whatever their order")
{
    Node node = make_node("n1");
    node.annotations[names::external_node_partitions] = "b,a";
    SlurmNode known = make_slurm_node("n1");
    known.features = "a,b,k8s";
    CHECK(plan_of(node, known).steps.empty());

    known.features = "a,k8s";
    CHECK(step_of<SetFeatures>(plan_of(node, known)).features == "k8s,b,a");
}

TEST_CASE("cordoned, not ready and deleted Nodes are drained with our mark")
{
    Node cordoned = make_node("n1");
    cordoned.unschedulable = true;
    Node away = make_node("n1");
    away.ready = false;
    Node deleted = make_node("n1");
    deleted.deleting = true;

    for (const Node &node : {cordoned, away, deleted}) {
        DrainNode known =
            step_of<DrainNode>(plan_of(node, make_slurm_node("n1")));
        CHECK(known.node == "n1");
        CHECK(known.reason.starts_with(drain_mark));
        CHECK(known.reason.size() > sizeof(drain_mark));

        NodePlan fresh = plan_of(node);
        REQUIRE(fresh.steps.size() == 2);
        CHECK(std::holds_alternative<CreateNode>(fresh.steps[0]));
        CHECK(std::get<DrainNode>(fresh.steps[1]).node == "n1");
    }
}

TEST_CASE("our own drain is taken back when its cause is gone")
{
    SlurmNode drained = make_slurm_node("n1");
    drained.drained = true;
    drained.reason = std::string(drain_mark) + "the Node is cordoned";

    CHECK(step_of<ResumeNode>(plan_of(make_node("n1"), drained)).node == "n1");

    Node cordoned = make_node("n1");
    cordoned.unschedulable = true;
    CHECK(plan_of(cordoned, drained).steps.empty());
}

TEST_CASE("the reason of our drain follows its cause")
{
    SlurmNode drained = make_slurm_node("n1");
    drained.drained = true;
    drained.reason = std::string(drain_mark) + "the Node is cordoned";
    Node away = make_node("n1");
    away.ready = false;

    CHECK(step_of<DrainNode>(plan_of(away, drained)).reason ==
          std::string(drain_mark) + "the Node is not ready");
}

TEST_CASE("a node that is DOWN is left as it is, whatever its Node says")
{
    SlurmNode down = make_slurm_node("n1");
    down.down = true;
    down.reason = "broken fan";
    Node cordoned = make_node("n1");
    cordoned.unschedulable = true;
    CHECK(plan_of(cordoned, down).steps.empty());
    down.drained = true;
    down.reason = std::string(drain_mark) + "the Node is cordoned";
    CHECK(plan_of(make_node("n1"), down).steps.empty());
}

TEST_CASE("a cordon that is Slurm's own echo drains nothing")
{
    Node node = make_node("n1");
    node.unschedulable = true;
    node.annotations[names::cordon_mark] = "DRAIN: disk";

    CHECK(plan_of(node, make_slurm_node("n1")).steps.empty());
    NodePlan fresh = plan_of(node); // slurmctld has lost the node
    REQUIRE(fresh.steps.size() == 2);
    CHECK(std::get<DrainNode>(fresh.steps[1]).reason == "DRAIN: disk");
}

TEST_CASE("an administrator's drain is left alone")
{
    SlurmNode drained = make_slurm_node("n1");
    drained.drained = true;
    for (const char *reason :
         {"bad disk", "", "slurmk8sd", "x slurmk8sd: the Node is cordoned"}) {
        CAPTURE(reason);
        drained.reason = reason;
        CHECK(plan_of(make_node("n1"), drained).steps.empty());
        Node cordoned = make_node("n1");
        cordoned.unschedulable = true;
        CHECK(plan_of(cordoned, drained).steps.empty());
    }
}

TEST_CASE("of two Nodes that claim one Slurm node one is refused: not the one "
          "that had it, else the younger")
{
    Node first = make_node("n1");
    Node second = make_node("n2");
    second.labels[names::slurm_nodename_label] = "n1";
    first.created = std::chrono::sys_seconds(std::chrono::seconds(2000));
    second.created = std::chrono::sys_seconds(std::chrono::seconds(1000));

    NodePlanInput input = make_input({first, second});
    NodePlan plan = plan_nodes(input, {});
    CHECK(step_of<CreateNode>(plan).node.name == "n1");
    CHECK(plan.nodes == NodeMap{{"n1", "n2"}});
    CHECK(plan.refused ==
          std::map<std::string, std::string>{
              {"n1", "Node n2 has Slurm's node n1 already"}});

    input.before = {{"n1", "n1"}};
    plan = plan_nodes(input, {});
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
    CHECK(plan.refused.contains("n2"));
}

namespace {

SlurmNode make_hybrid_node(const std::string &name)
{
    SlurmNode node = make_slurm_node(name);
    node.external = false;
    node.usable_cpus = node.cpus;
    node.usable_memory = node.memory;
    return node;
}

} // namespace

TEST_CASE("a Node whose Slurm node has a slurmd is hybrid: nothing is made")
{
    NodePlan plan = plan_of(make_node("n1"), make_hybrid_node("n1"));

    CHECK(plan.steps.empty());
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
    CHECK(plan.hybrid == std::set<std::string>{"n1"});
    CHECK(plan.complaints.empty());
    CHECK(plan_of(make_node("n1"), make_slurm_node("n1")).hybrid.empty());
}

TEST_CASE("on a hybrid node only the features of ours are replaced")
{
    Node node = make_node("n1");
    node.annotations[names::external_node_partitions] = "gpu";
    SlurmNode known = make_hybrid_node("n1");
    known.features = "rack2,k8s-0815,avx";

    SetFeatures set = step_of<SetFeatures>(plan_of(node, known));

    CHECK(set.node == "n1");
    CHECK(set.features == "avx,rack2,gpu,k8s");
    CHECK(plan_of(node, known).partitions_changed);
    known.features = set.features;
    CHECK(plan_of(node, known).steps.empty());
}

TEST_CASE("what is not active on a hybrid node stays so")
{
    SlurmNode known = make_hybrid_node("n1");
    known.features = "quad,snc4";
    known.active_features = "quad";

    SetFeatures set = step_of<SetFeatures>(plan_of(make_node("n1"), known));

    CHECK(set.features == "quad,snc4,k8s");
    CHECK(set.active == "quad,k8s");
    known.features = set.features;
    known.active_features = set.active;
    CHECK(plan_of(make_node("n1"), known).steps.empty());
    known.active_features = "quad"; // slurmd registered anew
    CHECK(plan_of(make_node("n1"), known).steps.size() == 1);
}

TEST_CASE("a node has the features of the predicates that its Node satisfies")
{
    PredicatePtr ssd =
        *Predicate::make({{{{"disk", false, NodeOperator::in, {"ssd"}}}}}, {});
    Node with = make_node("n1");
    with.labels["disk"] = "ssd";
    Node tainted = make_node("n2");
    tainted.taints = {{"dedicated", "", "NoSchedule"}};
    NodePlanInput input = make_input({with, tainted});
    input.wishes.predicates = {{}, ssd};

    NodePlan plan = plan_nodes(input, {});

    REQUIRE(plan.steps.size() == 2);
    CHECK(std::get<CreateNode>(plan.steps[0]).node.features ==
          "k8s,k8s-untainted," + ssd->feature());
    CHECK(std::get<CreateNode>(plan.steps[1]).node.features == "k8s");
    CHECK(plan.placed.size() == 1);
    CHECK(plan.placed["n1"].size() == 2);
}

TEST_CASE("features of predicates stay while nobody knows whose they are")
{
    SlurmNode known = make_slurm_node("n1");
    known.features = "k8s,k8s-abc,k8s-node-n1,k8s-untainted";
    NodePlanInput input = make_input({make_node("n1")});
    input.wishes.keep_others = true;

    NodePlan plan = plan_nodes(input, {known});

    CHECK(step_of<SetFeatures>(plan).features == "k8s,k8s-abc,k8s-node-n1");
    input.wishes.keep_others = false;
    CHECK(plan_nodes(input, {known}).steps.size() == 1);
}

TEST_CASE("a node with a taint of its own is not drained for it")
{
    Node tainted = make_node("n1");
    tainted.taints = {{"dedicated", "", "NoSchedule"}};
    SlurmNode drained = make_slurm_node("n1");
    CHECK(plan_of(tainted, drained).steps.empty());
    drained.drained = true;
    drained.reason = std::string(drain_mark) + "the Node has the taint x";
    CHECK(step_of<ResumeNode>(plan_of(tainted, drained)).node == "n1");
}

TEST_CASE("a hybrid node is drained and resumed as an external one")
{
    Node cordoned = make_node("n1");
    cordoned.unschedulable = true;
    SlurmNode known = make_hybrid_node("n1");

    CHECK(step_of<DrainNode>(plan_of(cordoned, known)).node == "n1");
    known.drained = true;
    known.reason = std::string(drain_mark) + "the Node is cordoned";
    CHECK(step_of<ResumeNode>(plan_of(make_node("n1"), known)).node == "n1");
    known.reason = "broken fan";
    CHECK(plan_of(make_node("n1"), known).steps.empty());
}

TEST_CASE("a hybrid node of which Slurm gives away too much is a complaint")
{
    SlurmNode known = make_hybrid_node("n1");
    CHECK(plan_of(make_node("n1", 15), known).complaints.size() == 1);
    CHECK(plan_of(make_node("n1", 16, 63999), known).complaints.size() == 1);
    known.usable_cpus = 15;
    known.usable_memory.value = 63999;
    CHECK(plan_of(make_node("n1", 15, 63999), known).complaints.empty());
}

TEST_CASE("a node with a slurmd that no Node asks for loses our features alone")
{
    SlurmNode known = make_hybrid_node("n1");
    known.features = "avx,k8s,k8s-0815";

    CHECK(step_of<SetFeatures>(plan_all({}, {known}))
              .features == "avx");
    known.features = "avx,k8sfan"; // never was ours
    CHECK(plan_all({}, {known}).steps.empty());
}

TEST_CASE("a node with a slurmd that lost its label is resumed, once no Pod of "
          "ours is left there")
{
    SlurmNode known = make_hybrid_node("n1");
    known.features = "avx";
    known.drained = true;
    known.reason = std::string(drain_mark) + "the Node is cordoned";

    CHECK(step_of<ResumeNode>(plan_all({}, {known})).node == "n1");
    CHECK(plan_all({}, {known}, std::nullopt).steps.empty());
    CHECK(plan_all({}, {known}, std::nullopt).look_again);
    NodePlanInput input = make_input({});
    input.occupied = {"n1"};
    CHECK(plan_nodes(input, {known}).steps.empty());
    known.reason = "broken fan";
    CHECK(plan_all({}, {known}).steps.empty());
}

TEST_CASE("what the gate drained is resumed when it is known to be clean")
{
    SlurmNode known = make_slurm_node("n1");
    known.drained = true;
    known.reason = names::gate_drain_reason;
    auto plan = [&](const DirtyNodes &dirty) {
        return plan_all({make_node("n1")}, {known}, dirty);
    };

    CHECK(plan(std::nullopt).steps.empty());
    CHECK(plan(std::nullopt).look_again);
    CHECK(plan(std::set<std::string>{"n1"}).steps.empty());
    CHECK_FALSE(plan(std::set<std::string>{"n1"}).look_again);
    CHECK(step_of<ResumeNode>(plan(std::set<std::string>{"n2"})).node == "n1");
}

TEST_CASE("a changed size makes a misfit, and the node still serves")
{
    NodePlan plan = plan_of(make_node("n1", 8), make_slurm_node("n1"));

    CHECK(plan.steps.empty());
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
    REQUIRE(plan.misfits.size() == 1);
    CHECK(plan.misfits[0].wish.cpus == 8);
}

TEST_CASE("so do another NodeAddr and a signal that was not answered")
{
    SlurmNode known = make_slurm_node("n1");
    CHECK(plan_of(make_node("n1"), known).misfits.empty());
    known.port++;
    CHECK(plan_of(make_node("n1"), known).misfits.size() == 1);
    known = make_slurm_node("n1");
    known.not_responding = true;
    CHECK(plan_of(make_node("n1"), known).misfits.size() == 1);
    known.drained = true; // that would be lost
    known.reason = "disk";
    CHECK(plan_of(make_node("n1"), known).misfits.empty());
}

TEST_CASE("what Pods of other schedulers ask for is not given to Slurm")
{
    NodePlanInput input = make_input({make_node("n1"), make_node("n2")});
    (*input.foreign)["n1"] = {MilliCpu{1500}, Bytes{std::int64_t{100} << 20}};

    NodePlan plan = plan_nodes(input, {});

    REQUIRE(plan.steps.size() == 2);
    NodeDescription one = std::get<CreateNode>(plan.steps[0]).node;
    CHECK(one.cpus == 14);
    CHECK(one.memory == MebiBytes{63900});
    CHECK(std::get<CreateNode>(plan.steps[1]).node.cpus == 16);
}

TEST_CASE("no node is made, and no size judged, before those Pods are listed")
{
    NodePlanInput input = make_input({make_node("n1", 8), make_node("n2")});
    input.foreign.reset();

    NodePlan plan = plan_nodes(input, {make_slurm_node("n1")});

    CHECK(plan.steps.empty());
    CHECK(plan.misfits.empty());
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
}

TEST_CASE("the topology annotation is passed on, if Slurm could read it")
{
    Node node = make_node("n1");
    node.annotations[names::topology_annotation] = "tree1:s1,blk:b1";
    CHECK(step_of<CreateNode>(plan_of(node)).node.topology ==
          "tree1:s1,blk:b1");
    SlurmNode known = make_slurm_node("n1");
    CHECK(step_of<SetTopology>(plan_of(node, known)).topology ==
          "tree1:s1,blk:b1");
    known.topology = "tree1:s1,blk:b1";
    CHECK(plan_of(node, known).steps.empty());

    node.annotations[names::topology_annotation] = "s1 State=DOWN";
    NodePlan plan = plan_of(node);
    CHECK(step_of<CreateNode>(plan).node.topology.empty());
    CHECK(plan.complaints.size() == 1);
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

TEST_CASE("Slurm nodes that no Node stands for are not touched")
{
    SlurmNode other = make_slurm_node("other");
    other.external = false;
    other.features = "avx";
    SlurmNode foreign = make_slurm_node("foreign");
    foreign.features = "cloud";

    NodePlan plan = plan_all({}, {other, foreign});

    CHECK(plan.steps.empty());
    CHECK(plan.complaints.empty());
}

TEST_CASE("a node of ours that no Node asks for any more is drained, and taken "
          "back with it")
{
    SlurmNode known = make_slurm_node("n1");
    known.features = "gpu,k8s";

    NodePlan plan = plan_all({}, {known});

    DrainNode drain = step_of<DrainNode>(plan);
    CHECK(drain.node == "n1");
    CHECK(drain.reason.starts_with(drain_mark));
    known.drained = true;
    known.reason = drain.reason;
    known.features = "k8s";
    CHECK(plan_all({}, {known}).steps.empty());
    CHECK(plan_all({}, {known}).unclaimed == std::vector<std::string>{"n1"});
    CHECK(plan_all({}, {known}, std::nullopt).unclaimed.empty());
    NodePlanInput input = make_input({});
    input.occupied = {"n1"};
    CHECK(plan_nodes(input, {known}).unclaimed.empty());
    CHECK(step_of<ResumeNode>(plan_of(make_node("n1"), known)).node == "n1");
}

TEST_CASE("heartbeats are no change, what the plan reads is")
{
    const Node node = make_node("n1");
    Node beat = node;
    beat.resource_version = "2";
    CHECK(same_for_slurm(node, beat));

    auto changed = [&](auto edit) {
        Node other = node;
        edit(other);
        return !same_for_slurm(node, other);
    };
    CHECK(changed([](Node &n) { n.ready = false; }));
    CHECK(changed([](Node &n) { n.unschedulable = true; }));
    CHECK(changed([](Node &n) { n.deleting = true; }));
    CHECK(changed([](Node &n) { n.labels["x"] = "y"; }));
    CHECK(changed([](Node &n) { n.annotations["x"] = "y"; }));
    CHECK(changed([](Node &n) { n.allocatable.cpu = MilliCpu{1}; }));
    CHECK(changed([](Node &n) { n.allocatable.memory = Bytes{1}; }));
    CHECK(changed([](Node &n) { n.objection = "x"; }));
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
    CHECK(first->complaints.empty());
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
    CHECK(result->complaints.size() == 1);
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
    CHECK(result->complaints.empty());
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
