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
    pool.cpus = 96;
    pool.memory = MebiBytes{900000};
    pool.gres = "gpu:h100:8";
    pool.labels = {{"pool", "p"}};
    NodePool other;
    other.name = "other";
    Conf conf;
    conf.batch_namespace = "batch";
    conf.node_pools = {other, pool};
    conf.batch_pod.pod =
        R"({"spec":{"nodeSelector":{"zone":"eu"},"tolerations":[{"key":"t"}],)"
        R"("affinity":{"nodeAffinity":{"x":1},"podAffinity":{"y":1}},)"
        R"("volumes":[{"name":"v"}],"containers":[{"name":"c"}]}})";
    return conf;
}

NodeDemand make_demand(JobId job, std::uint32_t nodes = 1)
{
    NodeDemand demand;
    demand.job = demand.leader = job;
    demand.nodes = nodes;
    demand.share = {5, MebiBytes{100}, {}};
    demand.pool = "p";
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
    auto body =
        Json::parse(demand_pod_body(make_demand(7, 2), {3, 1}, make_conf()));
    REQUIRE(body);
    CHECK(body->text("metadata/name").starts_with("slurm-waits-7-3-1-"));
    CHECK(body->text("metadata/namespace") == "batch");
    CHECK(body->texts("metadata/labels") ==
          TextMap{{names::demand_label, "7-3"}});
    Json spec = body->at("spec");
    CHECK(spec.text("schedulerName") == names::demand_scheduler);
    CHECK_FALSE(spec.at("volumes").present());
    REQUIRE(spec.items("containers").size() == 1);
    TextMap amounts{{"cpu", "5"}, {"memory", "100Mi"}};
    CHECK(spec.items("containers")[0].texts("resources/requests") == amounts);
    CHECK(spec.items("containers")[0].texts("resources/limits") == amounts);
}

TEST_CASE("GRES are a resource of the kubelet, or take their part of the CPUs; "
          "whole nodes take all")
{
    NodeDemand demand = make_demand(7);
    demand.share.gres = {{"gpu", 2}, {"gpu:h100", 2}};
    auto cpus_of = [](const Json &spec) {
        return spec.items("containers")[0].text("resources/requests/cpu");
    };
    CHECK(cpus_of(spec_of(demand)) == "24");

    Conf conf = make_conf();
    conf.device_gres = {{"nvidia.com/h100", "gpu", "h100"}};
    auto body = Json::parse(demand_pod_body(demand, {}, conf));
    REQUIRE(body);
    CHECK(body->at("spec")
              .items("containers")[0]
              .texts("resources/requests")
              .at("nvidia.com/h100") == "2");

    demand = make_demand(7);
    demand.whole_nodes = true;
    CHECK(cpus_of(spec_of(demand)) == "96");
}

TEST_CASE("the Pod wants a Node of the pool that suits the template, and "
          "tolerates what the template does, but no cordon")
{
    Json spec = spec_of(make_demand(7));
    CHECK(spec.texts("nodeSelector") == TextMap{{"pool", "p"}, {"zone", "eu"}});
    CHECK(text_of(spec, "affinity") == R"({"nodeAffinity":{"x":1}})");
    std::vector<std::string> keys;
    for (const Json &toleration : spec.items("tolerations"))
        keys.push_back(toleration.text("key"));
    CHECK(keys == std::vector<std::string>{"t", names::managed_node_taint});
}

TEST_CASE("the Pods of one task are for different Nodes, those of others are "
          "not")
{
    auto apart =
        text_of(spec_of(make_demand(7, 2), {3, 1}), "affinity/podAntiAffinity");
    CHECK(apart.contains(R"("slurmk8s/waits-for-node":"7-3")"));
    CHECK(apart.contains(R"("topologyKey":"kubernetes.io/hostname")"));
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

    CHECK(carry_demands({two, array}, conf, kube).value() == 0);
    auto names = names_in(kube);
    REQUIRE(names.size() == 5);
    CHECK(names[0] == "other");
    CHECK(names[1].starts_with("slurm-waits-7-0-0-"));
    CHECK(names[4].starts_with("slurm-waits-8-1-0-"));
    for (const Pod &pod : *kube.list_pods("batch"))
        if (pod.key.name != "other") {
            CHECK(pod.scheduled.reason == "Unschedulable");
            CHECK(pod.scheduled.message.contains("Slurm job "));
        }

    std::size_t creates = kube.count("create_pod");
    REQUIRE(carry_demands({array}, conf, kube));
    CHECK(kube.count("create_pod") == creates);
    CHECK(kube.count("delete_pod") == 2);
    array.share.cpus = 6; // other Pods
    REQUIRE(carry_demands({array}, conf, kube));
    CHECK(kube.count("create_pod") == creates + 2);
    CHECK(kube.count("delete_pod") == 4);
    REQUIRE(carry_demands({}, conf, kube));
    CHECK(names_in(kube) == std::vector<std::string>{"other"});
}

TEST_CASE("deletions do not wait for all that is to be made")
{
    FakeKube kube;
    Conf conf = make_conf();
    REQUIRE(carry_demands({make_demand(7)}, conf, kube));
    NodeDemand many = make_demand(8);
    many.tasks = most_made_at_once + 10;
    CHECK(carry_demands({many}, conf, kube).value() == 10);
    CHECK(kube.count("delete_pod") == 1);
    CHECK(names_in(kube).size() == most_made_at_once);
    CHECK(carry_demands({many}, conf, kube).value() == 0);
}

TEST_CASE("what fails is told, and the next call goes on")
{
    FakeKube kube;
    Conf conf = make_conf();
    SUBCASE("a Pod cannot be made")
    {
        kube.fail_next("create_pod", Code::denied);
        CHECK(carry_demands({make_demand(7, 2)}, conf, kube).error().code ==
              Code::denied);
        CHECK(names_in(kube).empty());
    }
    SUBCASE("a Pod could not be marked")
    {
        kube.fail_next("set_unscheduled", Code::busy);
        CHECK_FALSE(carry_demands({make_demand(7, 2)}, conf, kube));
    }
    REQUIRE(carry_demands({make_demand(7, 2)}, conf, kube));
    CHECK(names_in(kube).size() == 2);
    for (const Pod &pod : *kube.list_pods("batch"))
        CHECK(pod.scheduled.reason == "Unschedulable");
}
