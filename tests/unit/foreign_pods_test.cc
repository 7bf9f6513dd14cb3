// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/foreign_pods.h"

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
