// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/marks.h"
#include "common/contract/names.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

const MarkPolicy cordons{false, true};

SlurmNode off(const std::string &reason)
{
    SlurmNode node;
    node.name = "n1";
    node.drained = true;
    node.reason = reason;
    return node;
}

Node cordoned(const std::string &mark)
{
    Node node = make_node("n1");
    node.unschedulable = true;
    if (!mark.empty())
        node.annotations[names::cordon_mark] = mark;
    return node;
}

// As the API server would carry it out.
Node patched(Node node, const NodePatch &patch)
{
    if (patch.unschedulable)
        node.unschedulable = *patch.unschedulable;
    if (patch.taints)
        node.taints = *patch.taints;
    for (const auto &[name, value] : patch.annotations)
        if (value)
            node.annotations[name] = *value;
        else
            node.annotations.erase(name);
    return node;
}

NodePatch cordon_of(const Node &node, const SlurmNode &behind)
{
    return plan_marks(node, behind, "", cordons);
}

} // namespace

TEST_CASE(
    "a node that is drained in Slurm is cordoned with the reason as mark, "
    "and uncordoned after")
{
    Node node = make_node("n1");

    NodePatch patch = cordon_of(node, off("disk"));
    CHECK(patch.unschedulable == true);
    CHECK(patch.resource_version == node.resource_version);
    CHECK(patch.uid == node.uid);
    node = patched(node, patch);
    CHECK(node.annotations[names::cordon_mark] == "DRAIN: disk");
    CHECK(cordoned_by_us(node));
    CHECK(cordon_of(node, off("disk")).empty());

    node = patched(node, cordon_of(node, off("fan")));
    CHECK(node.annotations[names::cordon_mark] == "DRAIN: fan");

    node = patched(node, cordon_of(node, SlurmNode{}));
    CHECK_FALSE(node.unschedulable);
    CHECK_FALSE(node.annotations.contains(names::cordon_mark));
}

TEST_CASE("DOWN cordons too, with or without a reason")
{
    SlurmNode down;
    down.down = true;
    Node node = make_node("n1");
    CHECK(
        patched(node, cordon_of(node, down)).annotations[names::cordon_mark] ==
        "DOWN");
    down.reason = "broken fan";
    CHECK(
        patched(node, cordon_of(node, down)).annotations[names::cordon_mark] ==
        "DOWN: broken fan");
}

TEST_CASE("a drain of ours cordons nothing")
{
    CHECK(cordon_of(make_node("n1"), off(std::string(names::drain_mark) + "x"))
              .empty());
    CHECK(cordon_of(make_node("n1"), off(names::gate_drain_reason)).empty());
}

TEST_CASE("somebody else's cordon is never marked, and never taken back")
{
    Node node = cordoned("");
    CHECK(cordon_of(node, off("disk")).empty());
    CHECK(cordon_of(node, SlurmNode{}).empty());
    CHECK(plan_unmark(node).empty());
}

TEST_CASE("who uncordons by hand is not contradicted until the reason changes")
{
    Node node = cordoned("DRAIN: disk");
    node.unschedulable = false; // kubectl uncordon

    node = patched(node, cordon_of(node, off("disk")));
    CHECK_FALSE(node.unschedulable);
    CHECK_FALSE(node.annotations.contains(names::cordon_mark));
    CHECK(cordon_of(node, off("disk")).empty());

    Node by_hand = node;
    by_hand.unschedulable = true; // kubectl cordon: theirs from now on
    CHECK_FALSE(cordoned_by_us(by_hand));
    CHECK_FALSE(cordon_of(by_hand, SlurmNode{}).unschedulable);

    Node again = patched(node, cordon_of(node, off("fan")));
    CHECK(cordoned_by_us(again));
    CHECK_FALSE(again.annotations.contains(names::uncordon_mark));
    Node over = patched(node, cordon_of(node, SlurmNode{}));
    CHECK(over.annotations.empty());
}

TEST_CASE("the taint is added beside others, once, with its mark")
{
    Node node = make_node("n1");
    node.taints = {{"a", "b", "NoExecute", "2026-01-01T00:00:00Z"}};

    NodePatch patch = plan_marks(node, SlurmNode{}, "", {true, true});
    REQUIRE(patch.taints);
    REQUIRE(patch.taints->size() == 2);
    CHECK(patch.taints->front() == node.taints.front());
    CHECK(patch.taints->back() ==
          Taint{names::managed_node_taint, "", "NoSchedule", ""});
    Node tainted = patched(node, patch);
    CHECK(plan_marks(tainted, SlurmNode{}, "", {true, true}).empty());
    CHECK(plan_marks(node, SlurmNode{}, "", cordons).empty());

    Node bare = patched(tainted, plan_unmark(tainted));
    CHECK(bare.taints == node.taints);
    CHECK(bare.annotations.empty());
}

TEST_CASE(
    "an administrator's taint of that name is left, also when the label goes")
{
    Node node = make_node("n1");
    node.taints = {{names::managed_node_taint, "", "NoExecute", ""}};
    CHECK(plan_marks(node, SlurmNode{}, "", {true, true}).empty());
    CHECK(plan_unmark(node).empty());
}

TEST_CASE("the label's end takes back cordon and maintenance of ours")
{
    Node node = cordoned("DRAIN: disk");
    node.annotations[names::maintenance_annotation] = "m";
    node = patched(node, plan_unmark(node));
    CHECK_FALSE(node.unschedulable);
    CHECK(node.annotations.empty());
}

TEST_CASE("a Node that is being deleted is not written to")
{
    Node node = make_node("n1");
    node.deleting = true;
    CHECK(plan_marks(node, off("disk"), "m", {true, true}).empty());
}

TEST_CASE("maintenance ahead is said on the Node, the first of several")
{
    using std::chrono::seconds;
    using std::chrono::sys_seconds;
    auto words = maintenance_messages(
        {{"late", {"n1"}, true, sys_seconds(seconds(7200)), {}},
         {"soon",
          {"n1", "n2"},
          true,
          sys_seconds(seconds(60)),
          sys_seconds(seconds(3600))},
         {"other", {"n3"}, false, {}, {}}});
    CHECK(words == std::map<std::string, std::string>{
                       {"n1", "soon from 1970-01-01T00:01:00Z to "
                              "1970-01-01T01:00:00Z"},
                       {"n2", "soon from 1970-01-01T00:01:00Z to "
                              "1970-01-01T01:00:00Z"}});
    Node node = make_node("n1");
    node = patched(node, plan_marks(node, SlurmNode{}, words["n1"], cordons));
    CHECK(node.annotations[names::maintenance_annotation] == words["n1"]);
    CHECK(patched(node, plan_marks(node, SlurmNode{}, "", cordons))
              .annotations.empty());
}

TEST_CASE("an autoscaler keeps a Node while jobs have it, and not longer")
{
    const MarkPolicy none{false, false};
    const std::string karpenter = "karpenter.sh/do-not-disrupt";
    const std::string other =
        "cluster-autoscaler.kubernetes.io/scale-down-disabled";
    Node node = make_node("n1");
    CHECK(plan_marks(node, SlurmNode{}, "", none, false).empty());
    CHECK(plan_marks(node, SlurmNode{}, "", none).empty());

    node = patched(node, plan_marks(node, SlurmNode{}, "", none, true));
    CHECK(node.annotation(karpenter) == "true");
    CHECK(node.annotation(other) == "true");
    CHECK(plan_marks(node, SlurmNode{}, "", none, true).empty());

    node = patched(node, plan_marks(node, SlurmNode{}, "", none, false));
    CHECK(node.annotations.empty());

    // What an administrator has written stays.
    node.annotations[karpenter] = "true";
    node = patched(node, plan_marks(node, SlurmNode{}, "", none, true));
    CHECK(node.annotation(other) == "true");
    node = patched(node, plan_marks(node, SlurmNode{}, "", none, false));
    CHECK(node.annotations == TextMap{{karpenter, "true"}});

    node = patched(node, plan_marks(node, SlurmNode{}, "", none, true));
    node = patched(node, plan_unmark(node)); // it is no Slurm node any more
    CHECK(node.annotations == TextMap{{karpenter, "true"}});
}
