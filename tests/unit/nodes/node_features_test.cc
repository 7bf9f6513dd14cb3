// SPDX-License-Identifier: GPL-2.0-or-later
// Which features, and what topology, Slurm's nodes shall have.
#include "tests/unit/fakes/make_nodes.h"

#include <algorithm>
#include <cctype>
#include <doctest/doctest.h>

using namespace bridge;

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
        for (const std::string &warning : plan.warnings)
            CHECK(warning.size() < 400);
    }
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

namespace {

NodePlan plan_zone(const std::string &zone, const SlurmNode &known)
{
    Node node = make_node("n1");
    if (!zone.empty())
        node.labels["topology.kubernetes.io/zone"] = zone;
    NodePlanInput input = make_input({node});
    input.feature_labels = {{"topology.kubernetes.io/zone", "zone"},
                            {"example.com/cache", "cache"}};
    return plan_nodes(input, {known});
}

} // namespace

TEST_CASE("the labels that the site has chosen are features of external nodes")
{
    SlurmNode known = make_slurm_node("n1");
    CHECK(plan_zone("", known).steps.empty());

    NodePlan plan = plan_zone("eu-1", known);
    SetFeatures set = step_of<SetFeatures>(plan);
    CHECK(set.features == "k8s,k8s.zone.eu-1");
    CHECK(set.active == set.features);
    CHECK(plan.partitions_changed); // one may be made of it
    known.features = set.features;
    CHECK(plan_zone("eu-1", known).steps.empty());
    CHECK(step_of<SetFeatures>(plan_zone("eu-2", known)).features ==
          "k8s,k8s.zone.eu-2");
    CHECK(step_of<SetFeatures>(plan_zone("", known)).features == "k8s");
}

TEST_CASE(
    "on a hybrid node they replace what slurmd has said of the same labels, "
    "and what else it says stays")
{
    SlurmNode known = make_hybrid_node("n1");
    known.features = "avx,k8s.kubelet,k8s.rack.r1,k8s.zone.eu-1,k8s.zonex";

    SetFeatures set = step_of<SetFeatures>(plan_zone("eu-2", known));

    CHECK(set.features ==
          "avx,k8s.kubelet,k8s.rack.r1,k8s.zonex,k8s,k8s.zone.eu-2");
    CHECK(set.active == set.features);
    known.features = set.features;
    CHECK(plan_zone("eu-2", known).steps.empty());
    CHECK(step_of<SetFeatures>(plan_zone("", known)).features ==
          "avx,k8s.kubelet,k8s.rack.r1,k8s.zonex,k8s");
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

TEST_CASE("nodes that SbatchTemplate tolerates have a feature")
{
    Node tainted = make_node("n2");
    tainted.taints = {{"dedicated", "", "NoSchedule"}};
    Node other = make_node("n3");
    other.taints = {{"other", "", "NoSchedule"}};
    NodePlanInput input = make_input({make_node("n1"), tainted, other});
    input.wishes.predicates = {{}};
    Toleration dedicated{"dedicated", true, "", ""};
    input.wishes.batch = **Predicate::make({}, {dedicated});

    NodePlan plan = plan_nodes(input, {});

    REQUIRE(plan.steps.size() == 3);
    auto features = [&](std::size_t node) {
        return std::get<CreateNode>(plan.steps[node]).node.features;
    };
    CHECK(features(0) == "k8s,k8s-untainted,k8s-sbatch");
    CHECK(features(1) == "k8s,k8s-sbatch");
    CHECK(features(2) == "k8s");
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

TEST_CASE("a node with a slurmd that no Node asks for loses our features alone")
{
    SlurmNode known = make_hybrid_node("n1");
    known.features = "avx,k8s,k8s-0815,k8s.kubelet,k8s.zone.a";

    CHECK(step_of<SetFeatures>(plan_all({}, {known})).features ==
          "avx,k8s.kubelet,k8s.zone.a");
    known.features = "avx,k8sfan"; // never was ours
    CHECK(plan_all({}, {known}).steps.empty());
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
    CHECK(plan.warnings.size() == 1);
}

TEST_CASE("the devices of a Node decide, too; in doubt its feature stays")
{
    DeviceCondition devices{"gpus", nullptr};
    PredicatePtr wants = *Predicate::make({}, {}, devices);
    NodePlanInput input = make_input({make_node("n1")});
    input.wishes.predicates = {wants};
    std::optional<bool> answer;
    input.has_devices = [&](const DeviceCondition &asked, const Node &node) {
        CHECK(asked.text == "gpus");
        CHECK(node.name == "n1");
        return answer;
    };
    SlurmNode without = make_slurm_node("n1");
    SlurmNode with = without;
    with.features += "," + wants->feature();
    auto placed = [&](const SlurmNode &known) {
        return plan_nodes(input, {known}).placed.contains("n1");
    };

    for (bool yes : {true, false}) {
        answer = yes;
        CHECK(placed(with) == yes);
        CHECK(placed(without) == yes);
    }
    answer.reset();
    CHECK(placed(with));
    CHECK(!placed(without));
    input.has_devices = nullptr; // they are not listed yet
    CHECK(placed(with));
    CHECK(!placed(without));
}

TEST_CASE("it is known whether Nodes satisfy a predicate but for its devices")
{
    auto asks = [](const std::string &disk, const std::string &devices) {
        return *Predicate::make({{{{"disk", false, NodeOperator::in, {disk}}}}},
                                {}, {devices, nullptr});
    };
    const PredicatePtr ssd = asks("ssd", "gpus");
    Node node = make_node("n1");
    node.labels["disk"] = "ssd";
    NodePlanInput input = make_input({node});
    input.wishes.predicates = {ssd, asks("hdd", "gpus"), asks("ssd", "")};
    input.has_devices = [](const DeviceCondition &, const Node &) {
        return false;
    };

    CHECK(plan_nodes(input, {make_slurm_node("n1")}).selected ==
          std::set<std::string>{ssd->feature()});
}
