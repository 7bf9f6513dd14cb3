// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes of Slurm that stand for Nodes which an autoscaler may make.
#include "agent/nodes/potential.h"
#include "agent/nodes/sync.h"
#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/make_nodes.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

NodePool make_pool(std::uint32_t nodes)
{
    return {"p", nodes, 8, MebiBytes{32000}, "", {{"pool", "p"}}, "", {}};
}

Node make_member(const std::string &name)
{
    Node node = make_node(name, 8, 32000);
    node.labels["pool"] = "p";
    return node;
}

std::vector<std::string> names_of(const std::vector<PotentialNode> &nodes)
{
    std::vector<std::string> names;
    for (const PotentialNode &one : nodes)
        names.push_back(one.slurm_name);
    return names;
}

std::vector<NodePtr> share_all(const std::vector<Node> &nodes)
{
    return make_input(nodes).nodes;
}

struct Syncs {
    FakeSlurm slurm;
    NodeSyncState state;
    Conf conf;
    Clock::time_point now{};
    std::vector<NodePool> pools{make_pool(2)};
    FeatureWishes wishes;

    NodeSyncResult sync(const std::vector<Node> &nodes = {})
    {
        NodePlanInput input = make_input(nodes);
        input.pools = pools;
        input.wishes = wishes;
        auto result = sync_nodes({input, true, false, now}, slurm, conf, state);
        REQUIRE(result);
        return *result;
    }

    bool has(const std::string &name)
    {
        return std::ranges::contains(*slurm.load_nodes(), name,
                                     &SlurmNode::name);
    }
};

} // namespace

TEST_CASE("as many Nodes may come as the pool has, less those that exist")
{
    std::vector<NodePool> pools{make_pool(3)};
    CHECK(names_of(potential_nodes(pools, {})) ==
          std::vector<std::string>{"p-1", "p-2", "p-3"});

    Node leaves = make_member("b");
    leaves.deleting = true;
    CHECK(names_of(potential_nodes(
              pools, share_all({make_member("a"), leaves, make_node("c")}))) ==
          std::vector<std::string>{"p-1", "p-2"});

    std::vector<Node> many;
    for (int i = 0; i < 5; i++)
        many.push_back(make_member("n" + std::to_string(i)));
    CHECK(potential_nodes(pools, share_all(many)).empty());
}

TEST_CASE("a Node counts for the first pool whose labels it has")
{
    std::vector<NodePool> pools{make_pool(1), make_pool(1)};
    pools[1].name = "q";
    pools[1].labels = {};
    CHECK(names_of(potential_nodes(pools, share_all({make_member("a")}))) ==
          std::vector<std::string>{"q-1"});
    CHECK(names_of(potential_nodes(pools, share_all({make_node("a")}))) ==
          std::vector<std::string>{"p-1"});
}

TEST_CASE("what will be a Node has its labels, taints and partitions")
{
    NodePool pool = make_pool(1);
    pool.partitions = "a,b";
    pool.taints = {"k=v:NoSchedule", "l:NoExecute"};
    Node node = potential_nodes({pool}, {}).front().node;

    CHECK(node.labels.at("pool") == "p");
    CHECK(node.annotation(names::external_node_partitions) == "a,b");
    CHECK(node.taints ==
          std::vector<Taint>{{"k", "v", "NoSchedule"}, {"l", "", "NoExecute"}});
    CHECK(node.allocatable.cpu == MilliCpu{8000});
}

TEST_CASE("Slurm counts the devices that such a node will have")
{
    CHECK(potential_gres_conf("gpu:h100:8,nic:1") ==
          "count=8,name=gpu,type=h100,file=/dev/null+count=1,name=nic");
    CHECK(potential_gres_conf("").empty());
}

TEST_CASE("no job can start where no Node is, from the node's creation on")
{
    Syncs syncs;
    syncs.sync();

    for (const char *name : {"p-1", "p-2"}) {
        SlurmNode made = syncs.slurm.node(name);
        CHECK(made.down);
        CHECK(is_potential(made));
        CHECK(made.cpus == 8);
        CHECK(made.features.contains("k8s"));
    }
    // DOWN comes before the features that jobs ask for.
    CHECK(syncs.slurm.count("create_node") == 1);
    CHECK(syncs.slurm.count("set_down") == 1);
    CHECK(syncs.slurm.count("set_features") == 1);

    syncs.slurm.forget_calls();
    syncs.sync();
    CHECK(syncs.slurm.count("set_down") == 0);
    CHECK(syncs.slurm.count("set_features") == 0);
}

TEST_CASE("a node that could not be set DOWN gets no features")
{
    Syncs syncs;
    syncs.slurm.fail_always("set_down", Code::busy);
    syncs.sync();
    CHECK_FALSE(syncs.slurm.node("p-1").features.contains("k8s,"));
    CHECK(syncs.slurm.node("p-1").features == "k8s_new");

    syncs.slurm.heal("set_down");
    syncs.sync();
    CHECK(syncs.slurm.node("p-1").down);
    CHECK(syncs.slurm.node("p-1").features == "k8s");
}

TEST_CASE("what an administrator resumes is DOWN again")
{
    Syncs syncs;
    syncs.sync();
    REQUIRE(syncs.slurm.resume("p-2"));
    REQUIRE_FALSE(syncs.slurm.node("p-2").down);

    syncs.sync();

    CHECK(syncs.slurm.node("p-2").down);
}

TEST_CASE("a Node that comes has a node of its own, and one that stood for it "
          "goes")
{
    Syncs syncs;
    syncs.sync();
    syncs.sync({make_member("a")});
    CHECK_FALSE(syncs.slurm.node("a").down);
    CHECK(syncs.has("p-2"));

    syncs.now += syncs.conf.resize_delay + std::chrono::seconds(1);
    syncs.sync({make_member("a")});

    CHECK_FALSE(syncs.has("p-2"));
    CHECK(syncs.has("p-1"));

    syncs.sync(); // it goes again
    CHECK(syncs.has("p-2"));
}

TEST_CASE("a pool that is left out of k8s.conf takes its nodes with it")
{
    Syncs syncs;
    syncs.sync();
    syncs.pools.clear();
    syncs.sync();
    syncs.now += syncs.conf.resize_delay + std::chrono::seconds(1);
    syncs.sync();

    CHECK_FALSE(syncs.has("p-1"));
    CHECK_FALSE(syncs.has("p-2"));
}

TEST_CASE("a pool of another size has its nodes made again")
{
    Syncs syncs;
    syncs.sync();
    syncs.pools[0].cpus = 16;
    syncs.sync();
    syncs.now += syncs.conf.resize_delay + std::chrono::seconds(1);
    syncs.sync();
    syncs.sync();

    CHECK(syncs.slurm.node("p-1").cpus == 16);
    CHECK(syncs.slurm.node("p-1").down);
}

TEST_CASE("a node with slurmd keeps its name, and the log says so")
{
    Syncs syncs;
    syncs.slurm.add_real_node("p-1");
    NodeSyncResult result = syncs.sync();

    CHECK_FALSE(syncs.slurm.node("p-1").down);
    CHECK(syncs.slurm.node("p-2").down);
    CHECK(result.warnings ==
          std::vector<std::string>{
              "NodePool in k8s.conf: p-1 is the name of a node with slurmd"});
}

TEST_CASE("jobs may ask for what only a Node that comes would satisfy")
{
    Syncs syncs;
    NodeSelector selector{{{"pool", false, NodeOperator::in, {"p"}}}};
    auto predicate = Predicate::make({selector}, {});
    REQUIRE(predicate);
    syncs.wishes.predicates = {*predicate};

    NodeSyncResult result = syncs.sync();

    const std::string &feature = value_of(*predicate).feature();
    CHECK(result.placed.at(feature) == 2);
    CHECK(syncs.slurm.node("p-1").features.contains(feature));
    REQUIRE(result.sizes.contains(feature));
    CHECK(result.nodes.empty()); // no Node stands behind them
}

TEST_CASE("a Node of a pool is marked while Slurm has jobs there")
{
    Syncs syncs;
    Node member = make_member("a");
    auto marked = [](const NodeSyncResult &result) {
        return std::ranges::any_of(result.patches, [](const NodePatch &patch) {
            return patch.annotations.contains("slurmk8s/busy");
        });
    };
    auto quiet = [&] { // nothing has changed but what jobs have
        NodePlanInput input = make_input({member});
        input.pools = syncs.pools;
        return *sync_nodes({input, false, false, syncs.now}, syncs.slurm,
                           syncs.conf, syncs.state);
    };
    syncs.sync({member});
    CHECK_FALSE(marked(syncs.sync({member})));
    CHECK_FALSE(marked(quiet()));

    JobRef job = syncs.slurm.sbatch(2);
    syncs.slurm.schedule();
    REQUIRE(syncs.slurm.job(job.id).job.nodes == std::vector<std::string>{"a"});
    CHECK(marked(quiet()));
    member.annotations["slurmk8s/busy"] = "karpenter.sh/do-not-disrupt";
    CHECK_FALSE(marked(quiet()));

    REQUIRE(syncs.slurm.cancel(job));
    CHECK(marked(quiet()));
    member.annotations.clear();
    CHECK_FALSE(marked(quiet()));

    (void)syncs.slurm.sbatch(2);
    syncs.slurm.schedule();
    member.labels.erase("pool"); // no autoscaler's any more
    CHECK_FALSE(marked(syncs.sync({member})));
}

TEST_CASE("a Node that its autoscaler is about to remove is drained, and comes "
          "back if it stays")
{
    Syncs syncs;
    Node member = make_member("a");
    for (const char *taint :
         {"karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler"}) {
        syncs.sync({member});
        CHECK_FALSE(syncs.slurm.node("a").drained);
        Node goes = member;
        goes.taints.push_back({taint, "", "NoSchedule"});
        syncs.sync({goes});
        CHECK(syncs.slurm.node("a").drained);
        CHECK(syncs.slurm.node("a").reason ==
              "slurmk8sd: its autoscaler is about to remove the Node");
    }
    syncs.sync({member});
    CHECK_FALSE(syncs.slurm.node("a").drained);
}
