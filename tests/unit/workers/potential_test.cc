// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/decide.h"
#include "agent/workers/potential.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
}

using namespace bridge;

namespace {

WorkerSet node_set(std::uint32_t most = 3)
{
    WorkerSet set;
    set.key = {"ns", "w"};
    set.potential = PotentialWorkers{
        .range = {0, most},
        .idle_time = std::chrono::seconds(300),
        .prefix = "w-",
        .digits = 0,
        .conf = "CPUs=4 RealMemory=1000 Port=6818 Feature=w,big Gres=gpu:1"};
    return set;
}

// As create_records() leaves it.
SlurmNode record(const std::string &name, const WorkerSet &set = node_set())
{
    SlurmNode made;
    made.name = name;
    made.state = NODE_STATE_DOWN | NODE_STATE_CLOUD;
    made.address = no_address;
    made.down = true;
    made.reason = potential_nodes(set).reason;
    made.extra = potential_nodes(set).extra;
    return made;
}

PotentialPlan plan(const std::vector<WorkerSet> &sets,
                   const std::vector<SlurmNode> &records,
                   const std::set<std::string> &taken = {},
                   const std::set<std::string> &namespaces = {"ns"})
{
    std::vector<const WorkerSet *> those;
    for (const WorkerSet &set : sets)
        those.push_back(&set);
    return plan_potential(those, namespaces, records, taken);
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("potential nodes have what slurmd registers, and the features last")
{
    PotentialNodes nodes = potential_nodes(node_set());
    CHECK(nodes.made.conf == "CPUs=4 RealMemory=1000 Port=6818 Gres=gpu:1");
    CHECK(nodes.features == "w,big");
    CHECK(nodes.made.feature != "w");
    CHECK(nodes.reason ==
          "slurm-operator: NodeSet ns/w has not started it yet");
    WorkerSet other = node_set();
    other.potential->conf = "CPUs=8 Feature=w";
    CHECK(potential_nodes(other).extra != nodes.extra);
    CHECK(Json::parse(nodes.extra).has_value()); // for ExtraConstraints
}

TEST_CASE("each worker that may come has a record, in bounded requests")
{
    CHECK(plan({node_set()}, {}).create.at({"ns", "w"}) ==
          Names{"w-0", "w-1", "w-2"});
    CHECK(plan({node_set()}, {record("w-1")}).create.at({"ns", "w"}) ==
          Names{"w-0", "w-2"});
    PotentialPlan all =
        plan({node_set()}, {record("w-0"), record("w-1"), record("w-2")});
    CHECK(all.create.empty());
    CHECK(all.remove.empty());
    CHECK(plan({node_set(1000)}, {}).create.at({"ns", "w"}).size() ==
          most_potential_nodes);
}

TEST_CASE("a record that is half made, or has other parameters, is made anew")
{
    SlurmNode half = record("w-0");
    half.extra.clear();
    half.down = false;
    half.reason.clear();
    WorkerSet changed = node_set();
    changed.potential->conf = "CPUs=8 Feature=w";
    CHECK(plan({node_set()}, {half}).remove == Names{"w-0"});
    CHECK(plan({changed}, {record("w-0")}).remove == Names{"w-0"});
    CHECK(plan({changed}, {record("w-0")}, {"w-0"}).remove.empty());

    // That of a slurmd is none of these, whoever runs it.
    SlurmNode started = half;
    started.address = "10.0.0.7";
    CHECK(plan({node_set()}, {started}).remove.empty());
}

TEST_CASE("the record of a worker that has gone for good is made anew, also if "
          "a crash of slurmctld brings it back")
{
    SlurmNode gone = record("w-0");
    gone.address = "10.0.0.7";
    gone.reason = "slurm-operator: Pod ns/w-0 is gone for good";
    CHECK(plan({node_set()}, {gone}).remove == Names{"w-0"});
    CHECK(plan({node_set()}, {gone}, {"w-0"}).remove.empty());
    gone.reason = "slurm-operator: Pod ns/w-0 is gone"; // it comes back
    CHECK(plan({node_set()}, {gone}).remove.empty());
}

TEST_CASE(
    "a record that slurmd had taken over is made anew when a crash brings "
    "it back without slurmd")
{
    SlurmNode left = record("w-0");
    left.address = "10.0.0.7";
    left.reason.clear();
    left.down = false;
    CHECK(plan({node_set()}, {left}).remove.empty()); // slurmd answers
    left.not_responding = true;
    CHECK(plan({node_set()}, {left}).remove == Names{"w-0"});
    CHECK(plan({node_set()}, {left}, {"w-0"}).remove.empty()); // it restarts
    left.allocated_cpus = 1;
    CHECK(plan({node_set()}, {left}).remove.empty());
    left.allocated_cpus = 0;
    left.extra = "of others";
    CHECK(plan({node_set()}, {left}).remove.empty());
}

TEST_CASE("records of a set that is gone, or has become smaller, go")
{
    CHECK(plan({}, {record("w-0")}).remove == Names{"w-0"});
    CHECK(plan({node_set(1)}, {record("w-0"), record("w-1")}).remove ==
          Names{"w-1"});
    CHECK(plan({}, {record("w-0")}, {"w-0"}).remove.empty());
    // Not before all NodeSets of the namespace are known.
    CHECK(plan({}, {record("w-0")}, {}, {}).remove.empty());
    SlurmNode foreign = record("w-0");
    foreign.reason = "broken";
    CHECK(plan({}, {foreign}).remove.empty());
}

TEST_CASE("a potential node is resumed when its slurmd has registered")
{
    SlurmNode node = record("w-0");
    CHECK(may_resume(node));
    // slurmctld drops the reason then.
    node.reason.clear();
    CHECK(may_resume(node));
    node.reason = "Not responding";
    CHECK_FALSE(may_resume(node));
    node.reason.clear();
    node.state = NODE_STATE_DOWN;
    CHECK_FALSE(may_resume(node));
    CHECK(not_started_set(record("w-0")) == ObjectKey{"ns", "w"});
    node = record("w-0");
    node.down = false;
    CHECK_FALSE(not_started_set(node));
    node = record("w-0");
    node.reason = "slurm-operator: NodeSet nsw has not started it yet";
    CHECK_FALSE(not_started_set(node));
}
