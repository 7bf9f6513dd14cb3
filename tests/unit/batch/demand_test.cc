// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/demand.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

NodePool make_pool(const std::string &name)
{
    NodePool pool;
    pool.name = name;
    pool.nodes = pool.cpus = 8;
    pool.memory = MebiBytes{32000};
    pool.labels = {{karpenter_pool_label, name}};
    return pool;
}

Conf make_conf()
{
    Conf conf;
    conf.batch_namespace = "batch";
    conf.node_pools.push_back(make_pool("p"));
    return conf;
}

WaitingJob what(JobId id, std::uint32_t nodes = 1)
{
    WaitingJob job;
    job.id = id;
    job.partitions = {"main"};
    job.nodes = job.tasks = job.cpus = nodes;
    job.memory_per_node = MebiBytes{100};
    job.features = "k8s&k8s-untainted";
    return job;
}

Job waits(const WaitingJob &waiting)
{
    Job job = make_job(waiting.id, JobState::pending);
    job.tag = {};
    job.tag.script = "s" + std::to_string(waiting.id);
    job.reason = "Resources";
    job.wants_nodes = true;
    job.waiting = std::make_shared<const WaitingJob>(waiting);
    return job;
}

std::string pool_for(const WaitingJob &job, const Conf &conf)
{
    auto demands = demands_of({waits(job)}, conf);
    return demands.empty() ? "none" : demands[0].pool;
}

} // namespace

TEST_CASE("a batch job that waits for nodes asks for its share of each")
{
    WaitingJob job = what(7, 4);
    job.cpus = 20;
    auto demands = demands_of({waits(job)}, make_conf());
    REQUIRE(demands.size() == 1);
    CHECK(demands[0].job == 7);
    CHECK(demands[0].nodes == 4);
    CHECK(demands[0].share == NodeShare{5, MebiBytes{100}, {}});
    CHECK(demands[0].pool == "p");
    CHECK_FALSE(demands[0].whole_nodes);

    job.memory_per_node = {};
    job.memory_per_cpu = MebiBytes{200};
    job.whole_nodes = true;
    demands = demands_of({waits(job)}, make_conf());
    CHECK(demands[0].share.memory == MebiBytes{1000});
    CHECK(demands[0].whole_nodes);
}

TEST_CASE("jobs that more nodes would not start ask for none, nor do others")
{
    Job held = waits(what(1));
    held.wants_nodes = false;
    Job runs = waits(what(2));
    runs.state = JobState::running;
    Job has_pods = waits(what(3));
    has_pods.tag.uid = "u";
    Job of_pods = waits(what(4));
    of_pods.tag.script.clear();
    CHECK(demands_of({held, runs, has_pods, of_pods}, make_conf()).empty());

    Conf no_pools = make_conf();
    no_pools.node_pools.clear();
    CHECK(demands_of({waits(what(5))}, no_pools).empty());
    Conf off = make_conf();
    off.batch_namespace.clear();
    CHECK(demands_of({waits(what(5))}, off).empty());
}

TEST_CASE("a pool counts if its nodes are large enough for a job's share")
{
    Conf conf = make_conf();
    conf.node_pools[0].gres = "gpu:a100:2";
    WaitingJob job = what(7);
    job.cpus = 8;
    job.gres_per_node = {{"gpu", 2}, {"gpu:a100", 2}};
    CHECK(pool_for(job, conf) == "p");

    SUBCASE("CPUs")
    {
        job.cpus_per_node = 9;
    }
    SUBCASE("memory")
    {
        job.memory_per_node = MebiBytes{32001};
    }
    SUBCASE("GRES")
    {
        job.gres_per_node["gpu:a100"] = 3;
    }
    SUBCASE("a type")
    {
        job.gres_per_node = {{"gpu:h100", 1}};
    }
    CHECK(pool_for(job, conf) == "none");
}

TEST_CASE(
    "a pool without partitions is for jobs whose partitions no pool names")
{
    Conf conf = make_conf();
    conf.node_pools.push_back(make_pool("q"));
    conf.node_pools[1].partitions = "gpu,long";
    WaitingJob job = what(7);
    CHECK(pool_for(job, conf) == "p");
    job.partitions = {"main", "long"};
    CHECK(pool_for(job, conf) == "q");
}

TEST_CASE("a pool counts if its Nodes have the job's features, and suit the "
          "site's template")
{
    Conf conf = make_conf();
    conf.node_pools.push_back(make_pool("q"));
    conf.node_pools[1].labels["zone"] = "eu";
    conf.feature_labels = {{"zone", "zone"}};
    WaitingJob job = what(7);
    job.features = "k8s&k8s-untainted&k8s.zone.eu";
    CHECK(pool_for(job, conf) == "q");
    conf.node_pools[1].taints = {"nvidia.com/gpu=present:NoSchedule"};
    CHECK(pool_for(job, conf) == "none");

    conf.batch_template = "/etc/slurm/pod.yaml";
    conf.batch_pod.pod =
        R"({"spec":{"tolerations":[{"key":"nvidia.com/gpu",)"
        R"("operator":"Exists"}],"nodeSelector":{"zone":"eu"}}})";
    job.features = "k8s&k8s-sbatch";
    CHECK(pool_for(job, conf) == "q");
}

TEST_CASE("all components of a heterogeneous job ask, or none")
{
    Job job = waits(what(7));
    job.components = {waits(what(7, 1)), waits(what(8, 3))};
    auto demands = demands_of({job}, make_conf());
    REQUIRE(demands.size() == 2);
    CHECK(demands[1].job == 8);
    CHECK(demands[1].leader == 7);
    CHECK(demands[1].nodes == 3);

    WaitingJob large = what(8);
    large.cpus_per_node = 9;
    job.components[1] = waits(large);
    CHECK(demands_of({job}, make_conf()).empty());
}

TEST_CASE("the tasks of an array that wait ask each, as far as there is room")
{
    WaitingJob job = what(7, 2);
    job.array = true;
    job.count = 10;
    auto demands = demands_of({waits(job)}, make_conf());
    REQUIRE(demands.size() == 1);
    CHECK(demands[0].array);
    CHECK(demands[0].tasks == 10);

    job.count = most_demand_pods;
    CHECK(demands_of({waits(job)}, make_conf())[0].tasks ==
          most_demand_pods / 2);
}

TEST_CASE("the first in the queue ask first, each for all of its nodes or none")
{
    auto with = [](WaitingJob job, std::uint32_t priority) {
        Job all = waits(job);
        all.priority = priority;
        return all;
    };
    auto demands =
        demands_of({with(what(1, most_demand_pods), 5), with(what(2, 3), 9),
                    with(what(3, 4), 1), with(what(4, 1000000), 99)},
                   make_conf());
    REQUIRE(demands.size() == 2);
    CHECK(demands[0].job == 2);
    CHECK(demands[1].job == 3);
}
