// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/demand_pods.h"
#include "common/base/json.h"
#include "common/contract/autoscaler_names.h"
#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/make.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

Conf make_conf()
{
    NodePool pool;
    pool.name = "p";
    pool.labels = {{"pool", "p"}};
    pool.taints = {"nvidia.com/gpu=present:NoSchedule", "own:NoExecute"};
    NodePool other;
    other.name = "other";
    other.labels = {{"pool", "other"}};
    Conf conf;
    conf.batch_namespace = "batch";
    conf.node_pools = {pool, other};
    return conf;
}

NodeDemand make_demand(JobId job, std::uint32_t nodes = 1)
{
    NodeDemand demand;
    demand.job = demand.leader = job;
    demand.nodes = nodes;
    demand.cpus = 5;
    demand.memory = MebiBytes{100};
    demand.pools = {"p"};
    return demand;
}

Json spec_of(const NodeDemand &demand, DemandPod which = {})
{
    auto body = Json::parse(demand_pod_body(demand, which, make_conf()));
    REQUIRE(body);
    return body->at("spec");
}

std::string text_of(const Json &json, const char *path)
{
    return std::string(json.at(path).dump());
}

std::vector<std::string> names_in(FakeKube &kube)
{
    std::vector<std::string> names;
    for (const Pod &pod : *kube.list_pods("batch"))
        names.push_back(pod.key.name);
    std::ranges::sort(names);
    return names;
}

} // namespace

TEST_CASE("the Pod is as large as the job's share, and nobody's to start")
{
    NodeDemand demand = make_demand(7, 2);
    demand.devices = {{"example.com/gpu", 2}};
    auto body = Json::parse(demand_pod_body(demand, {3, 1}, make_conf()));
    REQUIRE(body);
    CHECK(body->text("metadata/name") == "slurm-waits-7-3-1");
    CHECK(body->text("metadata/namespace") == "batch");
    CHECK(body->texts("metadata/labels") ==
          TextMap{{names::demand_label, "7-3"}});
    Json spec = body->at("spec");
    CHECK(spec.text("schedulerName") == names::demand_scheduler);
    REQUIRE(spec.items("containers").size() == 1);
    TextMap amounts{
        {"cpu", "5"}, {"memory", "100Mi"}, {"example.com/gpu", "2"}};
    CHECK(spec.items("containers")[0].texts("resources/requests") == amounts);
    CHECK(spec.items("containers")[0].texts("resources/limits") == amounts);
}

TEST_CASE("the Pod wants a Node of the pools for the job, and tolerates their "
          "taints, but no cordon")
{
    Json spec = spec_of(make_demand(7));
    CHECK(
        text_of(spec, "affinity") ==
        R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
        R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"pool",)"
        R"("operator":"In","values":["p"]}]}]}}})");
    std::vector<std::string> keys;
    for (const Json &toleration : spec.items("tolerations"))
        keys.push_back(toleration.text("key"));
    CHECK(keys == std::vector<std::string>{"nvidia.com/gpu", "own",
                                           names::managed_node_taint});
}

TEST_CASE(
    "the Pods of one job are for different Nodes, those of others are not")
{
    CHECK_FALSE(
        spec_of(make_demand(7)).at("affinity/podAntiAffinity").present());
    auto apart =
        text_of(spec_of(make_demand(7, 2), {3, 1}), "affinity/podAntiAffinity");
    CHECK(apart.contains(R"("values":["7-3"])"));
    CHECK(apart.contains(R"("topologyKey":"kubernetes.io/hostname")"));

    NodeDemand whole = make_demand(7);
    whole.whole_nodes = true;
    apart = text_of(spec_of(whole), "affinity/podAntiAffinity");
    CHECK(apart.contains(std::string(names::demand_label) +
                         R"(","operator":"Exists")"));
    CHECK(apart.contains(std::string(names::job_id_label) +
                         R"(","operator":"Exists")"));
}

TEST_CASE("Pods follow the demand, and others of the namespace stay")
{
    FakeKube kube;
    Conf conf = make_conf();
    REQUIRE(kube.create_pod("batch", R"({"metadata":{"name":"other",)"
                                     R"("namespace":"batch"},"spec":{)"
                                     R"("containers":[{"name":"c"}]}})"));
    NodeDemand two = make_demand(7, 2);
    NodeDemand array = make_demand(8);
    array.tasks = 2;

    REQUIRE(carry_demands({two, array}, conf, kube));
    CHECK(names_in(kube) ==
          std::vector<std::string>{"other", "slurm-waits-7-0-0",
                                   "slurm-waits-7-0-1", "slurm-waits-8-0-0",
                                   "slurm-waits-8-1-0"});
    for (const Pod &pod : *kube.list_pods("batch"))
        if (pod.key.name != "other") {
            CHECK(pod.scheduled.reason == "Unschedulable");
            CHECK(pod.scheduled.message.contains("Slurm job "));
        }

    std::size_t creates = kube.count("create_pod");
    REQUIRE(carry_demands({array}, conf, kube));
    CHECK(kube.count("create_pod") == creates);
    REQUIRE(carry_demands({}, conf, kube));
    CHECK(kube.count("delete_pod") == 4);
}

TEST_CASE("what fails leaves the rest done, and is told")
{
    FakeKube kube;
    Conf conf = make_conf();
    SUBCASE("a Pod cannot be made")
    {
        kube.fail_next("create_pod", Code::denied);
        CHECK(carry_demands({make_demand(7, 2)}, conf, kube).error().code ==
              Code::denied);
        CHECK(names_in(kube).size() == 1);
    }
    SUBCASE("a Pod could not be marked: the next time it is")
    {
        kube.fail_next("set_unscheduled", Code::busy);
        CHECK_FALSE(carry_demands({make_demand(7)}, conf, kube));
    }
    REQUIRE(carry_demands({make_demand(7, 2)}, conf, kube));
    CHECK(names_in(kube).size() == 2);
    for (const Pod &pod : *kube.list_pods("batch"))
        CHECK(pod.scheduled.reason == "Unschedulable");
}
