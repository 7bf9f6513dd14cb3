// SPDX-License-Identifier: GPL-2.0-or-later
// Whose word drains and resumes Slurm's nodes.
#include "tests/unit/fakes/make_nodes.h"

#include <doctest/doctest.h>

using namespace bridge;

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

TEST_CASE("a node with a slurmd that lost its label is resumed, once no Pod of "
          "ours is left there")
{
    SlurmNode known = make_hybrid_node("n1");
    known.features = "avx";
    known.drained = true;
    known.reason = std::string(drain_mark) + "the Node is cordoned";

    CHECK(step_of<ResumeNode>(plan_all({}, {known})).node == "n1");
    CHECK(plan_all({}, {known}, std::nullopt).steps.empty());
    CHECK(plan_all({}, {known}, std::nullopt).leaving);
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
    CHECK(plan(std::nullopt).sync_again);
    CHECK(plan(std::set<std::string>{"n1"}).steps.empty());
    CHECK_FALSE(plan(std::set<std::string>{"n1"}).sync_again);
    CHECK(step_of<ResumeNode>(plan(std::set<std::string>{"n2"})).node == "n1");
}
