// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/autoscale.h"
#include "operator/decide/decide.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;
using namespace bridge::slinky;

namespace {

constexpr Now now{std::chrono::seconds(1'800'000'000)};

NodeSet with(const char *range, const char *idle = nullptr, int replicas = 1,
             const std::string &more = {})
{
    NodeSet set = node_set(replicas, more);
    if (range)
        set.meta.annotations[names::autoscale_annotation] = range;
    if (idle)
        set.meta.annotations[names::scale_down_annotation] = idle;
    return set;
}

// The agent has been told already.
NodeSet told(NodeSet set)
{
    if (auto workers = autoscale_of(set).workers)
        set.meta.annotations[names::potential_annotation] = workers->text();
    return set;
}

std::vector<Step> decided(const NodeSet &set,
                          std::initializer_list<Worker> pods = {})
{
    return decide_node_set(known_with(set, pods), set, {}, now);
}

} // namespace

TEST_CASE("the operator tells the agent which workers there may be")
{
    NodeSet set = with("0-32", "90s");
    auto workers = autoscale_of(set).workers;
    REQUIRE(workers);
    CHECK(workers->range == ReplicaRange{0, 32});
    CHECK(workers->idle_time == std::chrono::seconds(90));
    CHECK(workers->prefix == "w-");
    CHECK(workers->conf == "CPUs=2 RealMemory=1000 Port=6818 Feature=w");
    CHECK(autoscale_of(with("0-32")).workers->idle_time == usual_idle_time);

    auto steps = tell_agent(set);
    REQUIRE(steps.size() == 1);
    Json body = json(steps[0].body);
    CHECK(body.at("metadata/annotations")
              .member(names::potential_annotation)
              .text() == workers->text());
    CHECK(steps[0].path ==
          "/apis/slinky.slurm.net/v1beta1/namespaces/ns/nodesets/w");
    CHECK(tell_agent(told(set)).empty());
    CHECK(tell_agent(node_set(1)).empty());
    CHECK(said(decided(told(set), {worker(0)}), "Autoscaled")
              .starts_with("True: "));
}

TEST_CASE("no Pod is made below or above the range")
{
    CHECK(wished_replicas(with("2-4", nullptr, 0)) == 2);
    CHECK(wished_replicas(with("2-4", nullptr, 3)) == 3);
    CHECK(wished_replicas(with("2-4", nullptr, 9)) == 4);
    CHECK(wished_replicas(node_set(9)) == 9);
    CHECK(most_replicas(with("0-40", nullptr, 0)) == 40);
    auto steps = decided(told(with("0-1", nullptr, 3)));
    CHECK(whats(steps) == "create Pod w-0");
}

TEST_CASE("the record of a worker that goes is the agent's to make anew")
{
    auto steps = decided(told(with("0-4", nullptr, 0)), {worker(0)});
    REQUIRE(whats(steps) == "ask to drain Pod w-0");
    CHECK(json(steps[0].body)
              .at("metadata/annotations")
              .member(names::forget_annotation)
              .text() == "true");
}

TEST_CASE("what is wrong with the annotations is told, and replicas count")
{
    struct {
        NodeSet set;
        const char *part; // of the sentence
    } const table[] = {
        {with("32"), "must have the least and the largest number of Pods"},
        {with("0-4", "5"), "must have a time such as"},
        {with(nullptr, "5m"), "says nothing without slurmk8s/autoscale"},
        {with("0-4", nullptr, 1, R"(, "scalingMode": "DaemonSet")"),
         "is for scalingMode StatefulSet"},
    };
    for (const auto &row : table) {
        Autoscale autoscale = autoscale_of(row.set);
        CHECK(autoscale.asked);
        CHECK_FALSE(autoscale.workers);
        CHECK_MESSAGE(autoscale.problem.contains(row.part), autoscale.problem);
        auto condition = autoscaled(row.set);
        REQUIRE(condition);
        CHECK_FALSE(condition->holds);
        CHECK(condition->message == autoscale.problem);
        CHECK(wished_replicas(row.set) == row.set.replicas);
    }
    NodeSet unsized = with("0-4");
    unsized.spec = json(R"({"slurmd": {"image": "slurmd"}})");
    CHECK(
        autoscale_of(unsized).problem.contains("must request cpu and memory"));
    CHECK_FALSE(autoscaled(node_set(1)));
}

TEST_CASE("the agent is told when a NodeSet follows the queue no more")
{
    NodeSet set = told(with("0-4"));
    set.meta.annotations.erase(names::autoscale_annotation);
    auto steps = tell_agent(set);
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].body.contains(R"("slurmk8s/potential-workers":null)"));
    // And its condition goes.
    set = node_set(0);
    set.conditions.push_back({"Autoscaled", "True", "", "", "", 3});
    auto written = decided(set);
    REQUIRE(!written.empty());
    CHECK(said(written, "Autoscaled").empty());
    CHECK(!said(written, "Accepted").empty());
}
