// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_kube.h"

#include "common/contract/names.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

Node labelled(const std::string &name)
{
    Node node;
    node.name = name;
    node.labels[names::external_node_label] = "true";
    node.ready = true;
    node.allocatable.cpu = *parse_cpu("4");
    node.allocatable.memory = *parse_bytes("8Gi");
    return node;
}

KubeFacts good()
{
    KubeFacts kube;
    kube.minor_version = 36;
    kube.username = "system:serviceaccount:slurm-k8s-bridge:slurmk8sd";
    kube.groups = {"system:serviceaccounts", "system:authenticated"};
    kube.our_time = std::chrono::sys_seconds(1000000s);
    kube.server_time = kube.our_time;
    kube.access = AccessReview{};
    for (const PolicyName &policy : known_policies())
        kube.policies.push_back(
            {policy.name, true, true,
             "['slurm', 'other', 'slurmk8s/sbatch-hosts']"});
    kube.nodes = {labelled("n1")};
    kube.nodes_listed = true;
    return kube;
}

SlurmFacts slurm_with(const SlurmNode &node)
{
    SlurmFacts slurm;
    slurm.nodes = {node};
    slurm.node_features_plugins = {"k8s"};
    return slurm;
}

SlurmNode slurm_node(bool external)
{
    SlurmNode node;
    node.name = "n1";
    node.external = external;
    node.cpus = node.usable_cpus = 4;
    node.memory.value = node.usable_memory.value = 8192;
    node.features = "k8s";
    return node;
}

} // namespace

TEST_CASE("a cluster with everything in place has no finding")
{
    KubeFacts kube = good();

    CHECK(check_kube_version(kube).empty());
    CHECK(check_identity(kube).empty());
    CHECK(check_clock(kube).empty());
    CHECK(check_rights(kube).empty());
    CHECK(check_policies(kube, {}).empty());
    CHECK(check_namespaces(kube, {}).empty());
    CHECK(check_nodes(kube, slurm_with(slurm_node(true))).empty());
    CHECK(check_nodes(kube, slurm_with(slurm_node(false))).empty());
}

TEST_CASE("what was not answered is no finding")
{
    KubeFacts kube;

    CHECK(check_kube_version(kube).empty());
    CHECK(check_identity(kube).empty());
    CHECK(check_clock(kube).empty());
    CHECK(check_rights(kube).empty());
    CHECK(check_policies(kube, {}).empty());
    CHECK(check_namespaces(kube, {}).empty());
    CHECK(check_nodes(kube, {}).empty());
}

TEST_CASE("an old Kubernetes, another identity and an administrator's token")
{
    KubeFacts kube = good();
    kube.minor_version = 34;
    CHECK(check_kube_version(kube)[0].severity == Severity::error);
    kube.username = "system:serviceaccount:default:default";
    CHECK(check_identity(kube)[0].severity == Severity::error);
    kube = good();
    kube.groups.emplace_back("system:masters");
    CHECK(check_identity(kube)[0].says.contains("administrator"));
}

TEST_CASE("another account is the agent's if the policies know it")
{
    KubeFacts kube = good();
    kube.username = "system:serviceaccount:slurm:slurm-controller";
    CHECK(check_identity(kube)[0].says.contains("refuse what anybody else"));
    for (PolicyFacts &policy : kube.policies)
        if (policy.name == "slurm-k8s-bridge-agent")
            policy.text += " == '" + kube.username + "'";
    CHECK(check_identity(kube).empty());
}

TEST_CASE("clocks that differ, in either direction")
{
    KubeFacts kube = good();
    for (auto skew : {-5s, 0s, 5s}) {
        kube.server_time = kube.our_time + skew;
        CHECK(check_clock(kube).empty());
    }
    for (auto skew : {-6s, 6s, 60s}) {
        kube.server_time = kube.our_time + skew;
        CHECK(check_clock(kube)[0].severity == Severity::warning);
    }
    for (auto skew : {-61s, 3600s}) {
        kube.server_time = kube.our_time + skew;
        CHECK(check_clock(kube)[0].severity == Severity::error);
    }
}

TEST_CASE("rights: the base's are errors, a component's are notes")
{
    KubeFacts kube = good();
    kube.access->missing = {
        {Feature::base, "list", "", "pods"},
        {Feature::volumes, "list", "", "persistentvolumes"}};

    Findings found = check_rights(kube);

    REQUIRE(found.size() == 2);
    CHECK(found[0].severity == Severity::error);
    CHECK(found[0].says == "slurmk8sd may not list pods");
    CHECK(found[1].severity == Severity::note);
    CHECK(found[1].says.contains("volumes is off"));
}

TEST_CASE("each policy must be there, deny, and know the scheduler names")
{
    Conf conf;
    conf.batch_namespace = "slurm-jobs";
    for (const PolicyName &name : known_policies()) {
        CAPTURE(name.name);
        auto spoilt = [&](auto spoil) {
            KubeFacts kube = good();
            for (PolicyFacts &policy : kube.policies)
                if (policy.name == name.name)
                    spoil(policy);
            return check_policies(kube, conf);
        };
        Severity severity =
            name.guards_users ? Severity::error : Severity::warning;

        Findings found = spoilt([](PolicyFacts &p) { p.there = false; });
        REQUIRE(found.size() == 1);
        CHECK(found[0].severity == severity);
        found = spoilt([](PolicyFacts &p) { p.denies = false; });
        REQUIRE(found.size() == 1);
        CHECK(found[0].severity == severity);
        found = spoilt([](PolicyFacts &p) {
            p.text = "['slurm2', 'slurmk8s/sbatch-hosts']";
        });
        CHECK(found.size() == (name.names_schedulers ? 1 : 0));
    }
}

TEST_CASE("a base that is older than the component for batch jobs is said")
{
    Conf conf;
    KubeFacts kube = good();
    for (PolicyFacts &policy : kube.policies)
        policy.text = "['slurm', 'other']";

    CHECK(check_policies(kube, conf).empty());
    conf.batch_namespace = "slurm-jobs";
    Findings found = check_policies(kube, conf);

    REQUIRE(found.size() == 1);
    CHECK(found[0].about == "policy slurm-k8s-bridge-agent");
    CHECK(found[0].says.contains("slurmk8s/sbatch-hosts"));
}

TEST_CASE("the policies of a component that is not installed are not missed")
{
    KubeFacts kube = good();
    kube.access->missing = {{Feature::nodes_patch, "patch", "", "nodes"}};
    for (PolicyFacts &policy : kube.policies)
        if (policy.name.contains("node-marks") ||
            policy.name.contains("batch-pods")) // there is no SbatchNamespace
            policy.there = false;

    CHECK(check_policies(kube, {}).empty());
}

TEST_CASE("what is possible without a policy is said")
{
    KubeFacts kube = good();
    for (PolicyFacts &policy : kube.policies)
        policy.there = !policy.name.contains("strict-nodes") &&
                       !policy.name.contains("node-registration");

    Findings found = check_policies(kube, {});

    REQUIRE(found.size() == 2);
    CHECK(found[0].about == "policy slurm-k8s-bridge-strict-nodes");
    CHECK(found[0].says.contains("outside of its queue"));
    CHECK(found[0].change.contains(
        "contribs/kubernetes/components/strict-nodes"));
    CHECK(
        found[1].change.contains("contribs/kubernetes/components/node-labels"));
}

TEST_CASE("Pods on Slurm's Nodes outside of its queue, by namespace")
{
    KubeFacts kube = good();
    kube.namespaces = {{"meant", {{names::strict_nodes_label, "false"}}, {}},
                       {"strict", {{names::strict_nodes_label, "true"}}, {}}};
    CHECK(check_outside_pods(kube).empty());
    kube.outside_pods = {{"meant", "m", "n1"},
                         {"kube-system", "dns", "n1"},
                         {"strict", "a", "n1"},
                         {"strict", "b", "n1"},
                         {"new", "c", "n1"},
                         {"new", "elsewhere", "stranger"},
                         {"old", "elsewhere", "stranger"}};

    Findings found = check_outside_pods(kube);

    REQUIRE(found.size() == 4);
    CHECK(found[0].about == "namespace kube-system");
    CHECK(found[0].severity == Severity::note);
    CHECK(found[1].about == "namespace meant");
    CHECK(found[1].severity == Severity::note);
    CHECK(found[2].about == "namespace new");
    CHECK(found[2].severity == Severity::warning);
    CHECK(found[3].about == "namespace strict");
    CHECK(found[3].severity == Severity::warning);
    CHECK(found[3].says.ends_with("2, such as a on n1"));
}

TEST_CASE("namespaces whose Slurm user this host does not know")
{
    KubeFacts kube = good();
    kube.namespaces = {{"plain", {}, {}},
                       {"bad", {}, {{names::namespace_user, "no-such-user"}}},
                       {"root", {}, {{names::namespace_user, "root"}}}};

    Findings found = check_namespaces(kube, {});

    REQUIRE(found.size() == 2);
    CHECK(found[0].about == "namespace bad");
    CHECK(found[1].about == "namespace root");
    Conf conf;
    conf.default_user = "no-such-user";
    CHECK(check_namespaces(good(), conf)[0].about == "k8s.conf");
}

TEST_CASE("no Node is opted in; Slurm has one whose Node is gone")
{
    KubeFacts kube = good();
    kube.nodes[0].labels.clear();

    Findings found = check_nodes(kube, slurm_with(slurm_node(true)));

    REQUIRE(found.size() == 2);
    CHECK(found[0].about == "Nodes");
    CHECK(found[1].about == "node n1");
}

TEST_CASE("a hybrid node of which Slurm gives away too much gets the numbers")
{
    SlurmNode node = slurm_node(false);
    node.cpus = node.usable_cpus = 6;
    node.memory.value = node.usable_memory.value = 10000;

    Findings found = check_nodes(good(), slurm_with(node));

    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::error);
    CHECK(found[0].change == "NodeName=n1 … CoreSpecCount=2 MemSpecLimit=1808");
}

TEST_CASE("a hybrid node wants node_features/k8s, an external one does not")
{
    SlurmFacts slurm = slurm_with(slurm_node(false));
    slurm.node_features_plugins = {"knl"};

    Findings found = check_nodes(good(), slurm);

    REQUIRE(found.size() == 2);
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].change == "NodeFeaturesPlugins=knl,k8s");
    CHECK(found[1].severity == Severity::note); // nobody says it
    CHECK(found[1].change == "cpuManagerPolicy: none");
    slurm.node_features_plugins.emplace_back("k8s");
    CHECK(check_nodes(good(), slurm).empty());
    slurm = slurm_with(slurm_node(true));
    slurm.node_features_plugins.clear();
    CHECK(check_nodes(good(), slurm).empty());
}

TEST_CASE("a kubelet beside a slurmd must not give CPUs to containers")
{
    SlurmNode node = slurm_node(false);
    node.features = "k8s,k8s.kubelet,k8s.static-cpus";
    Findings found = check_nodes(good(), slurm_with(node));
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].about == "node n1");
    CHECK(found[0].change.starts_with("cpuManagerPolicy: none"));

    node.features = "k8s,k8s.kubelet,k8s.static-cpus.x";
    CHECK(check_nodes(good(), slurm_with(node)).empty());
    node.external = true; // none of whose CPUs a slurmd gives away
    node.features = "k8s,k8s.static-cpus";
    CHECK(check_nodes(good(), slurm_with(node)).empty());
}

TEST_CASE("devices that GresTypes does not have")
{
    KubeFacts kube = good();
    kube.nodes[0].allocatable.others["nvidia.com/gpu"] = 4;
    SlurmFacts slurm = slurm_with(slurm_node(true));

    CHECK(check_nodes(kube, slurm).at(0).change == "GresTypes=gpu");
    slurm.gres_types = {"gpu"};
    CHECK(check_nodes(kube, slurm).empty());
}

TEST_CASE("new Nodes are counted, partitions are read from labelled ones")
{
    KubeFacts kube = good();
    kube.nodes.push_back(labelled("n2"));
    kube.nodes[1].annotations[names::external_node_partitions] = "a, b,";
    kube.nodes.emplace_back();
    kube.nodes[2].name = "stranger";
    kube.nodes[2].annotations[names::external_node_partitions] = "c";

    CHECK(count_new_nodes(kube, slurm_with(slurm_node(true))) == 1);
    CHECK(partitions_of_nodes(kube) == std::set<std::string>{"a", "b"});
}
