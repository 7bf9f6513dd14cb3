// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that are made anew, deleted, or held back by shadows: sync after sync
// against the Slurm in memory.
#include "agent/nodes/sync.h"
#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/make.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

struct Syncs {
    FakeSlurm slurm;
    Conf conf;
    NodeSyncState state;
    Clock::time_point now{seconds(1000)};
    std::vector<Node> nodes{make_node("n1")};
    std::map<std::string, Amounts> foreign;
    bool foreign_known = true;
    NodeSyncResult last;

    Syncs()
    {
        conf.resize_delay = seconds(60);
        sync(2);
    }

    void sync(int times = 1)
    {
        while (times-- > 0) {
            NodePlanInput input;
            for (const Node &node : nodes)
                input.nodes.push_back(std::make_shared<const Node>(node));
            if (foreign_known)
                input.foreign = foreign;
            input.dirty.emplace();
            input.marks = {false, false};
            auto done =
                sync_nodes({input, true, false, now}, slurm, conf, state);
            REQUIRE(done);
            last = *done;
            slurm.schedule();
        }
    }
    void later(int s) { now += seconds(s); }
    void take(const std::string &node, std::int64_t cpus)
    {
        foreign[node] = {MilliCpu{cpus * 1000}, Bytes{0}};
    }
    std::size_t shadows() const
    {
        std::size_t count = 0;
        for (const auto &[id, record] : slurm.jobs())
            count += record.asked.name == "slurmk8sd-shadow" &&
                     record.job.state == JobState::configuring;
        for (const auto &[id, record] : slurm.jobs())
            count += record.asked.name == "slurmk8sd-shadow" &&
                     record.job.state == JobState::running;
        return count;
    }
    // The CPUs of shadows in that tier that have started.
    unsigned held(const std::string &tier) const
    {
        unsigned cpus = 0;
        for (const auto &[id, record] : slurm.jobs())
            if (record.asked.name == "slurmk8sd-shadow" &&
                record.asked.partition == tier &&
                (record.job.state == JobState::configuring ||
                 record.job.state == JobState::running))
                cpus += record.asked.cpus_per_task;
        return cpus;
    }
    bool known(const std::string &name)
    {
        auto all = slurm.load_nodes();
        return std::ranges::contains(*all, name, &SlurmNode::name);
    }
};

} // namespace

TEST_CASE(
    "growth of others on a node is held by a shadow at once, and the node "
    "is made anew when it was idle for long enough")
{
    Syncs s;
    s.take("n1", 2);
    s.sync(2);
    CHECK(s.shadows() == 1);
    CHECK(s.slurm.node("n1").cpus == 16);
    s.later(30);
    s.sync(2);
    CHECK(s.slurm.node("n1").cpus == 16);

    s.later(40);
    s.sync(2);
    CHECK(s.slurm.node("n1").cpus == 14);
    CHECK(s.shadows() == 0);
    CHECK(s.last.warnings.empty());
    CHECK(s.state.shadows.empty());
}

TEST_CASE("a busy node keeps its shadow, which is found again after a restart")
{
    Syncs s;
    s.slurm.sbatch(4);
    s.slurm.schedule();
    s.take("n1", 2);
    s.sync(2);
    s.later(600);
    s.sync(2);
    CHECK(s.shadows() == 1);
    CHECK(s.slurm.node("n1").cpus == 16);
    s.state = {};
    s.sync(3);
    CHECK(s.shadows() == 1);
    CHECK(s.slurm.count("submit_shadow") == 1);

    s.take("n1", 3); // grows
    s.sync(2);
    CHECK(s.shadows() == 2);
    s.take("n1", 0); // and goes
    s.sync(2);
    CHECK(s.shadows() == 0);
    CHECK(s.slurm.node("n1").cpus == 16);
}

TEST_CASE("on a full node a shadow takes what is free, and no other job ends "
          "for the rest, which waits in the lowest tier")
{
    Syncs s;
    JobRef job = s.slurm.sbatch(14);
    s.slurm.schedule();
    s.take("n1", 6); // of 16
    s.sync(3);
    CHECK(s.slurm.count("submit_shadow") == 2);
    CHECK(s.shadows() == 1);
    CHECK(s.held("highest") == 2);
    CHECK(s.held("lowest") == 0);

    s.slurm.scancel(job.id);
    s.sync(2);
    CHECK(s.held("highest") == 2);
    CHECK(s.held("lowest") == 4);
    CHECK(s.slurm.count("submit_shadow") == 2);
}

TEST_CASE("what others have is not known yet: shadows stay")
{
    Syncs s;
    s.slurm.sbatch(4);
    s.slurm.schedule();
    s.take("n1", 2);
    s.sync(2);
    s.state = {}; // another life of the agent
    s.foreign_known = false;
    s.sync(2);
    CHECK(s.shadows() == 1);
    CHECK(s.slurm.count("submit_shadow") == 1);
}

TEST_CASE("an uncertain submit of a shadow is looked for before another one")
{
    Syncs s;
    s.take("n1", 2);
    s.slurm.lose_reply("submit_shadow");
    s.sync(3);
    CHECK(s.slurm.count("submit_shadow") == 1);
    CHECK(s.shadows() == 1);
}

TEST_CASE("a node grows when it is idle")
{
    Syncs s;
    s.nodes[0].allocatable.cpu = MilliCpu{32000};
    s.sync();
    CHECK(s.shadows() == 0);
    s.later(61);
    s.sync();
    CHECK(s.slurm.node("n1").cpus == 32);
}

TEST_CASE(
    "a node that nobody asks for is drained, then deleted when it is idle "
    "and named by nobody")
{
    Syncs s;
    JobRef job = s.slurm.sbatch(1);
    s.slurm.schedule();
    s.slurm.name_node(job, "n1");
    s.nodes.clear();
    s.sync(2);
    CHECK(s.slurm.node("n1").drained);
    s.later(61);
    s.sync(2);
    CHECK(s.known("n1")); // busy
    s.slurm.scancel(job.id);
    JobRef names_it = s.slurm.sbatch(1);
    s.slurm.name_node(names_it, "n1");
    s.later(61);
    s.sync(2);
    CHECK(s.known("n1")); // named
    s.slurm.scancel(names_it.id);
    s.sync(2);
    CHECK_FALSE(s.known("n1"));
}

TEST_CASE("an administrator's drain keeps a node that nobody asks for")
{
    Syncs s;
    s.slurm.set_drained("n1", "disk");
    s.nodes.clear();
    s.sync(2);
    s.later(600);
    s.sync(2);
    CHECK(s.known("n1"));
    CHECK(s.slurm.node("n1").reason == "disk");
}

TEST_CASE("a Node that is back before that is taken as it is")
{
    Syncs s;
    s.nodes.clear();
    s.sync(2);
    CHECK(s.slurm.node("n1").drained);
    s.nodes = {make_node("n1")};
    s.sync(2);
    s.later(600);
    s.sync(2);
    CHECK_FALSE(s.slurm.node("n1").drained);
    CHECK(s.slurm.count("delete_node") == 0);
}

TEST_CASE("a node with a slurmd is never made anew: a shadow holds what its "
          "kubelet has not")
{
    Syncs s;
    s.slurm.add_real_node("h1", 16);
    s.nodes.push_back(make_node("h1", 12));
    s.sync(3);
    CHECK(s.shadows() == 1);
    CHECK(s.last.warnings.size() == 1);
    s.later(600);
    s.sync(3);
    CHECK(s.slurm.node("h1").cpus == 16);
    CHECK(s.slurm.count("delete_node") == 0);
}
