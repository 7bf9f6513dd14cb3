// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/names.h"
#include "operator/decide/places.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

constexpr Now now{std::chrono::seconds(1800000000)};

void put(Known &known, const KubeNode &node)
{
    known.nodes[node.meta.key] = node;
    known.nodes_listed = true;
}

NodeSet daemon_set(const std::string &more = {})
{
    return node_set(1, R"(, "scalingMode": "DaemonSet")" + more);
}

// The Pod of the daemon_set() on this Node.
Worker on(const std::string &node)
{
    Worker made = worker(0);
    made.meta.key.name = "w-" + node;
    made.meta.uid = "uid-" + node;
    made.meta.labels[names::scaling_mode_label] = "DaemonSet";
    made.meta.labels[names::worker_hostname_label] = node;
    made.node = node;
    return made;
}

std::vector<Step> decided(const Known &known)
{
    return decide_node_set(known, known.node_sets.at({"ns", "w"}), {}, now);
}

} // namespace

TEST_CASE("DaemonSet: a Pod for each Node that fits, bound to it, with its "
          "short name")
{
    Known known = known_with(
        daemon_set(R"(, "template": {"spec": {"nodeSelector": {"zone": "a"},
            "affinity": {"nodeAffinity":
            {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{"matchExpressions": [{"key": "size",
            "operator": "Exists"}]}, {}]}}}}})"),
        {});
    put(known, kube_node("n1.example.com"));
    put(known, kube_node("n2"));
    KubeNode other = kube_node("n3");
    other.meta.labels["zone"] = "b";
    put(known, other);
    auto steps = decided(known);
    CHECK(whats(steps) == "create Pod w-n1; create Pod w-n2");
    Json pod = json(steps[0].body);
    CHECK(pod.text("spec/hostname") == "n1");
    CHECK(pod.at("metadata/labels").member(names::scaling_mode_label).text() ==
          "DaemonSet");
    auto terms = pod.items("spec/affinity/nodeAffinity/"
                           "requiredDuringSchedulingIgnoredDuringExecution/"
                           "nodeSelectorTerms");
    REQUIRE(terms.size() == 2);
    CHECK(terms[0].text("matchFields/0/values/0") == "n1.example.com");
    CHECK(terms[0].text("matchExpressions/0/key") == "size");
    CHECK(terms[1].dump() == "{}"); // and does not begin to match
    CHECK(pod.at("spec/affinity/podAntiAffinity").is_object());
    CHECK(pod.items("spec/tolerations").size() == 6);
    CHECK(said(steps, "Available") == "False: 0 of 2 Pods are ready.");
}

TEST_CASE("DaemonSet: where all is as it should be nothing is decided")
{
    Known known = known_with(daemon_set(), {on("n1"), on("n2")});
    put(known, kube_node("n1"));
    put(known, kube_node("n2"));
    CHECK(whats(decided(known)) == "");
    known.workers.erase({"ns", "w-n2"});
    CHECK(whats(decided(known)) == "create Pod w-n2");
}

TEST_CASE("DaemonSet: a Pod whose Node does not fit any more is asked, and one "
          "whose Node is gone for good")
{
    const std::string plain = R"({"slurmk8s/worker-request":"drain 1"})";
    const std::string for_good = R"({"slurmk8s/worker-request":"drain 1",)"
                                 R"("slurmk8s/forget-node":"true"})";
    Known known = known_with(
        daemon_set(R"(, "pruneSlurmNodeRecords": "NodeNotFound", "template":
            {"spec": {"nodeSelector": {"zone": "a"}}})"),
        {on("n1"), on("n2")});
    KubeNode moved = kube_node("n1");
    moved.meta.labels["zone"] = "b";
    put(known, moved);
    auto steps = decided(known);
    CHECK(whats(steps) == "ask to drain Pod w-n1; ask to drain Pod w-n2");
    for (const Step &step : steps)
        if (!step.is_report)
            CHECK(json(step.body).at("metadata/annotations").dump() ==
                  (step.what.ends_with("n1") ? plain : for_good));
    // A Node that only takes no new Pods keeps the one that it has.
    KubeNode tainted = kube_node("n1");
    tainted.taints.push_back({"team", "", "NoSchedule"});
    put(known, tainted);
    put(known, kube_node("n2"));
    CHECK(whats(decided(known)) == "");
    known.workers.erase({"ns", "w-n1"});
    CHECK(whats(decided(known)) == "");
}

TEST_CASE("DaemonSet: without the list of Nodes nobody comes or goes")
{
    Known known = known_with(daemon_set(), {on("n1")});
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    CHECK(said(steps, "Accepted").contains("needs the list of Nodes"));
    CHECK(said(steps, "ScalingIn").starts_with("False"));
    NodeSet deleted = daemon_set();
    deleted.meta.deleting = true;
    CHECK(whats(decided(known_with(deleted, {on("n1")}))) ==
          "ask to drain Pod w-n1");
}

TEST_CASE("DaemonSet: two Nodes with one host name get no Pod, one that is "
          "there stays")
{
    Known known = known_with(daemon_set(), {});
    put(known, kube_node("n1.east"));
    put(known, kube_node("n1.west"));
    put(known, kube_node("n2"));
    auto steps = decided(known);
    CHECK(whats(steps) == "create Pod w-n2");
    CHECK(said(steps, "Accepted")
              .contains("But not for Node n1.east: another "
                        "one has the host name n1"));
    Worker there = on("n1");
    there.node = "n1.west";
    Known with = known_with(daemon_set(), {there, on("n2")});
    with.nodes = known.nodes;
    with.nodes_listed = true;
    CHECK(whats(decided(with)) == "");

    KubeNode renamed = kube_node("n1.east");
    renamed.meta.annotations[names::hostname_annotation] = "east";
    put(known, renamed);
    CHECK(whats(decided(known)) ==
          "create Pod w-east; create Pod w-n1; create Pod w-n2");
    renamed.meta.annotations[names::hostname_annotation] = "No.Name";
    put(known, renamed);
    CHECK(said(decided(known), "Accepted").contains("Node n1.east: \"w-No"));
}

TEST_CASE("DaemonSet: a name that another NodeSet's Pod has is not taken")
{
    Known known = known_with(daemon_set(), {});
    put(known, kube_node("n1"));
    Worker other = on("n1");
    other.meta.key.name = "x-n1";
    other.meta.controller = "x-uid";
    other.meta.labels[names::cluster_label] = "slurm";
    known.workers[other.meta.key] = other;
    auto steps = decided(known);
    CHECK(whats(steps) == "");
    CHECK(said(steps, "Accepted").contains("another NodeSet has a Slurm node"));
}

TEST_CASE("Pods of the other mode are asked, and none is counted")
{
    Worker ordinal = worker(0);
    ordinal.meta.labels[names::scaling_mode_label] = "StatefulSet";
    Known known = known_with(daemon_set(), {ordinal});
    put(known, kube_node("n1"));
    CHECK(whats(decided(known)) == "ask to drain Pod w-0; create Pod w-n1");
    Known back = known_with(node_set(1), {on("n1")});
    back.nodes = known.nodes;
    back.nodes_listed = true;
    CHECK(whats(decided(back)) == "ask to drain Pod w-n1; create Pod w-0");
}

TEST_CASE(
    "pinToNode: a Pod comes back to its Node, unless that is gone or fits "
    "no more")
{
    NodeSet set = node_set(2, R"(, "pinToNode": true, "template": {"spec":
        {"nodeSelector": {"zone": "a"}}})");
    Known known = known_with(set, {worker(0)});
    put(known, kube_node("node0"));
    put(known, kube_node("node1"));
    CHECK(pins_of(known, set, {&known.workers.begin()->second}) ==
          Pins{{"0", "node0"}});
    set.status = json(R"({"ordinalToNode": {"0": "node7", "1": "node1",
        "2": "gone"}})");
    known.node_sets[set.meta.key] = set;
    CHECK(pins_of(known, set, {&known.workers.begin()->second}) ==
          Pins{{"0", "node0"}, {"1", "node1"}});
    auto steps = decided(known);
    REQUIRE(whats(steps) == "create Pod w-1");
    CHECK(json(steps[0].body)
              .text("spec/affinity/nodeAffinity/"
                    "requiredDuringSchedulingIgnoredDuringExecution/"
                    "nodeSelectorTerms/0/matchFields/0/values/0") == "node1");
    CHECK(json(steps.back().body).at("status/ordinalToNode").dump() ==
          R"({"0":"node0","1":"node1"})");

    KubeNode moved = kube_node("node1");
    moved.meta.labels["zone"] = "b";
    put(known, moved);
    CHECK_FALSE(json(decided(known)[0].body)
                    .at("spec/affinity/nodeAffinity")
                    .present());
    known.nodes_listed = false;
    known.nodes.clear();
    CHECK(pins_of(known, set, {}).size() == 3); // nobody knows better
    set = node_set(2);
    CHECK(pins_of(known, set, {&known.workers.begin()->second}).empty());
}

TEST_CASE("a Pod gets what its Node says of the Slurm node, and loses it again")
{
    Known known = known_with(node_set(1), {worker(0)});
    KubeNode node = kube_node("node0");
    node.meta.annotations[names::topology_annotation] = "default:s1";
    put(known, node);
    auto steps = decided(known);
    REQUIRE(whats(steps) == "give Pod w-0 the annotations of its Node");
    CHECK(steps[0].verb == Step::Verb::patch);
    CHECK(json(steps[0].body).dump() ==
          R"({"metadata":{"uid":"uid-0","annotations":)"
          R"({"topology.slinky.slurm.net/spec":"default:s1"}}})");
    Worker &pod = known.workers.begin()->second;
    pod.meta.annotations[names::topology_annotation] = "default:s1";
    CHECK(whats(decided(known)) == "");
    put(known, kube_node("node0"));
    steps = decided(known);
    REQUIRE(whats(steps) == "give Pod w-0 the annotations of its Node");
    CHECK(json(steps[0].body).at("metadata/annotations").dump() ==
          R"({"topology.slinky.slurm.net/spec":null})");
}
