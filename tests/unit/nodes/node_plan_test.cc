// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes Slurm shall have, and of what size. Their state and their
// features have files of their own.
#include "agent/nodes/hybrid_size.h"
#include "tests/unit/fakes/make_nodes.h"

#include <doctest/doctest.h>

using namespace bridge;

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
    CHECK(plan.warnings.empty());
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
        REQUIRE(plan.warnings.size() == 1);
        CHECK(plan.warnings[0].starts_with("Node node-1 is left out"));
    }
}

TEST_CASE("a Node whose sizes are no amounts is left out with the reason")
{
    Node node = make_node("n1");
    node.unfit_reason = "allocatable cpu \"x\" is not one";

    NodePlan plan = plan_of(node);

    CHECK(plan.steps.empty());
    CHECK(plan.nodes.empty());
    CHECK(plan.warnings == std::vector<std::string>{"Node n1 is left out: " +
                                                    node.unfit_reason});
}

TEST_CASE("a Node whose kubelet has not said its size yet is awaited")
{
    CHECK(plan_of(make_node("n1", 0)).steps.empty());
    CHECK(plan_of(make_node("n1", 16, 0)).steps.empty());
    CHECK(plan_of(make_node("n1", 0)).nodes.empty());
    CHECK(plan_of(make_node("n1", 0)).warnings.empty());
}

TEST_CASE("what is in step needs no step")
{
    NodePlan plan = plan_of(make_node("n1"), make_slurm_node("n1"));

    CHECK(plan.steps.empty());
    CHECK(plan.warnings.empty());
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
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
              {"n1", "Node n2 already stands for Slurm node n1"}});

    input.before = {{"n1", "n1"}};
    plan = plan_nodes(input, {});
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
    CHECK(plan.refused.contains("n2"));
}

TEST_CASE("a Node with a slurmd Pod of unknown size is left out, unless Slurm "
          "has its node")
{
    NodePlanInput input = make_input({make_node("n1"), make_node("n2")});
    Amounts taken;
    taken.unsized_workers = 1;
    input.foreign = {{"n1", taken}};

    NodePlan plan = plan_nodes(input, {});
    CHECK(step_of<CreateNode>(plan).node.name == "n2");
    CHECK(plan.nodes == NodeMap{{"n2", "n2"}});
    REQUIRE(plan.refused.contains("n1"));
    CHECK(plan.refused.at("n1").contains("resources.requests"));

    plan = plan_nodes(input, {make_slurm_node("n1"), make_slurm_node("n2")});
    CHECK(plan.steps.empty());
    CHECK(plan.nodes.contains("n1"));
    CHECK(plan.refused.empty());
    REQUIRE(plan.warnings.size() == 1);
    CHECK(plan.warnings[0].starts_with("Slurm node n1 may count CPUs twice"));
}

TEST_CASE("a Node whose Slurm node has a slurmd is hybrid: nothing is made")
{
    NodePlan plan = plan_of(make_node("n1"), make_hybrid_node("n1"));

    CHECK(plan.steps.empty());
    CHECK(plan.nodes == NodeMap{{"n1", "n1"}});
    CHECK(plan.hybrid == std::set<std::string>{"n1"});
    CHECK(plan.warnings.empty());
    CHECK(plan_of(make_node("n1"), make_slurm_node("n1")).hybrid.empty());
}

TEST_CASE("a hybrid node of which Slurm gives away too much is a complaint")
{
    SlurmNode known = make_hybrid_node("n1");
    CHECK(
        plan_of(make_node("n1", 15), known).warnings ==
        std::vector<std::string>{
            "Node n1: " + too_large_node_reason(known, 15, MebiBytes{64000})});
    CHECK(plan_of(make_node("n1", 16, 63999), known).warnings.size() == 1);
    known.usable_cpus = 15;
    known.usable_memory.value = 63999;
    CHECK(plan_of(make_node("n1", 15, 63999), known).warnings.empty());
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

TEST_CASE("Slurm nodes that no Node stands for are not touched")
{
    SlurmNode other = make_slurm_node("other");
    other.external = false;
    other.features = "avx";
    SlurmNode foreign = make_slurm_node("foreign");
    foreign.features = "cloud";

    NodePlan plan = plan_all({}, {other, foreign});

    CHECK(plan.steps.empty());
    CHECK(plan.warnings.empty());
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
    CHECK(changed([](Node &n) { n.unfit_reason = "x"; }));
}
