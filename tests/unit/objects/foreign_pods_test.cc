// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/foreign_pods.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using Nodes = std::set<std::string>;

ForeignPod pod(const std::string &uid, const std::string &node,
               std::int64_t cpu = 1000)
{
    return {uid, node, {MilliCpu{cpu}, Bytes{1 << 20}}};
}

ForeignPod read(const std::string &phase)
{
    auto json = Json::parse(
        R"({"metadata":{"uid":"u"},"spec":{"nodeName":"n1","containers":[)"
        R"({"resources":{"requests":{"cpu":"500m","memory":"1Mi"}}},)"
        R"({"resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":")" +
        phase + "\"}}");
    REQUIRE(json);
    return foreign_pod_from(*json);
}

} // namespace

TEST_CASE("a Pod is read as its Node and what it asks for; one that is over "
          "takes nothing")
{
    ForeignPod running = read("Running");
    CHECK(running.uid == "u");
    CHECK(running.node == "n1");
    CHECK(running.asks == Amounts{MilliCpu{1500}, Bytes{1 << 20}});
    CHECK(read("Succeeded").node.empty());
    CHECK(read("Failed").node.empty());
}

TEST_CASE("a NodeSet's Pod is read with its namespace")
{
    auto json = Json::parse(
        R"({"metadata":{"uid":"u","namespace":"slurm","ownerReferences":[)"
        R"({"apiVersion":"slinky.slurm.net/v1beta1","kind":"NodeSet",)"
        R"("controller":true}]},"spec":{"nodeName":"n1"}})");
    REQUIRE(json);
    CHECK(foreign_pod_from(*json).worker_namespace == "slurm");
    CHECK(read("Running").worker_namespace.empty());
}

TEST_CASE("sums follow the Pods, and say which Node's is another one")
{
    ForeignPods pods;
    CHECK(pods.put(pod("a", "n1")) == Nodes{"n1"});
    CHECK(pods.put(pod("b", "n1", 500)) == Nodes{"n1"});
    CHECK(pods.put(pod("b", "n1", 500)).empty());
    CHECK(pods.on("n1") == Amounts{MilliCpu{1500}, Bytes{2 << 20}});
    CHECK(pods.put(pod("b", "n1", 700)) == Nodes{"n1"}); // resized in place
    CHECK(pods.on("n1").cpu == MilliCpu{1700});
    CHECK(pods.put(pod("a", "")) == Nodes{"n1"}); // ended
    CHECK(pods.put(pod("a", "")).empty());
    CHECK(pods.put(pod("unknown", "")).empty());
    CHECK(pods.on("n1").cpu == MilliCpu{700});
    CHECK(pods.on("n2") == Amounts{});
    CHECK(pods.size() == 1);
}

TEST_CASE("the sum of whatever Pods request is more than the Node has")
{
    constexpr std::int64_t most = std::int64_t{1} << 62; // see units.h
    Requests has{MilliCpu{64'000}, Bytes{std::int64_t{1} << 46}, {}};
    Amounts each = amounts_of({MilliCpu{most}, Bytes{most}, {}});
    ForeignPods pods;
    for (int i = 0; i < 10'000; i++) {
        pods.put({std::to_string(i), "n1", each});
        REQUIRE(pods.on("n1").cpu > has.cpu);
        REQUIRE(pods.on("n1").memory > has.memory);
        REQUIRE(less(has, pods.on("n1")) == Amounts{});
    }
    for (int i = 0; i < 10'000; i++)
        pods.put({std::to_string(i), "", {}});
    CHECK(pods.on("n1") == Amounts{});
}

TEST_CASE("devices are counted with the rest")
{
    ForeignPods pods;
    ForeignPod one = pod("a", "n1");
    one.asks.devices["nvidia.com/gpu"] = 2;
    pods.put(one);
    one.uid = "b";
    CHECK(pods.put(one) == Nodes{"n1"});
    CHECK(pods.on("n1").devices.at("nvidia.com/gpu") == 4);
    one.asks.devices.clear();
    CHECK(pods.put(one) == Nodes{"n1"});
    pods.put(pod("a", ""));
    pods.put(pod("b", ""));
    CHECK(pods.on("n1") == Amounts{});

    Requests has;
    has.others = {{"nvidia.com/gpu", 3}, {"example.com/nic", 1}};
    Amounts taken;
    taken.devices = {{"nvidia.com/gpu", 2}, {"example.com/nic", 5}, {"a/b", 1}};
    CHECK(without_devices(has, taken).others ==
          std::map<std::string, std::int64_t>{{"nvidia.com/gpu", 1},
                                              {"example.com/nic", 0}});

    Requests asks;
    asks.others = {{"nvidia.com/gpu", std::int64_t{1} << 62},
                   {"ephemeral-storage", 4},
                   {"hugepages-2Mi", 4},
                   {"example.com/none", 0}};
    Amounts counted = amounts_of(asks);
    CHECK(counted.devices.size() == 1);
    CHECK(counted.devices.contains("nvidia.com/gpu"));
    counted += counted; // far from what an integer holds
    CHECK(counted.devices["nvidia.com/gpu"] > 0);
}

TEST_CASE("what belongs to a Node is no Pod that could have queued")
{
    auto could = [](const std::string &metadata) {
        auto json = Json::parse(R"({"metadata":{)" + metadata + "}}");
        REQUIRE(json);
        return could_queue(*json);
    };
    auto owned = [&](const std::string &api, const std::string &kind,
                     const std::string &controller) {
        return could(R"("ownerReferences":[{"apiVersion":")" + api +
                     R"(","kind":")" + kind + R"(","controller":)" +
                     controller + "}]");
    };

    CHECK(could(""));
    CHECK(could(R"("annotations":{"a":"b"})"));
    CHECK(owned("apps/v1", "ReplicaSet", "true"));
    CHECK_FALSE(owned("apps/v1", "DaemonSet", "true"));
    // Anybody may name an owner that does not control the Pod, or make a kind.
    CHECK(owned("apps/v1", "DaemonSet", "false"));
    CHECK(owned("example.com/v1", "DaemonSet", "true"));
    CHECK_FALSE(
        could(R"("annotations":{"kubernetes.io/config.mirror":"hash"})"));
}

TEST_CASE("Pods outside of the queue are counted on the Nodes that are asked "
          "for")
{
    ForeignPods pods;
    ForeignPod one = pod("a", "n1", 0); // it need not ask for anything
    one.outside_queue = true;
    pods.put(one);
    pods.put(pod("daemon", "n1"));
    one.uid = "b";
    one.node = "n2";
    pods.put(one);
    auto all = [](const std::string &) { return true; };
    auto first = [](const std::string &node) { return node == "n1"; };

    CHECK(pods.count_outside_queue(all) == 2);
    CHECK(pods.count_outside_queue(first) == 1);
    one.outside_queue = false; // a DaemonSet has adopted it
    CHECK(pods.put(one).empty());
    CHECK(pods.count_outside_queue(all) == 1);
    pods.put(pod("a", "")); // ended
    CHECK(pods.count_outside_queue(all) == 0);
}

TEST_CASE("a list replaces all")
{
    ForeignPods pods;
    pods.put(pod("a", "n1"));
    pods.put(pod("b", "n2"));
    CHECK(pods.replace({pod("b", "n2"), pod("c", "n3")}) == Nodes{"n1", "n3"});
    CHECK(pods.on("n1") == Amounts{});
    CHECK(pods.replace({}) == Nodes{"n2", "n3"});
    CHECK(pods.size() == 0);
}

TEST_CASE("what is left of a Node is never less than nothing")
{
    Requests has;
    has.cpu = MilliCpu{1000};
    has.memory = Bytes{5};
    CHECK(less(has, {MilliCpu{400}, Bytes{7}}) ==
          Amounts{MilliCpu{600}, Bytes{0}});
}
