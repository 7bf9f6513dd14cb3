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

Job waiting_job(JobId id, std::uint32_t nodes = 1)
{
    Job job = make_job(id, JobState::pending);
    job.tag = {};
    job.tag.script = "s" + std::to_string(id);
    job.reason = "Resources";
    job.wants_nodes = true;
    job.min_nodes = nodes;
    job.tasks = nodes;
    job.memory_per_node = MebiBytes{100};
    return job;
}

using Names = std::vector<std::string>;

Names pools_of(const Job &job, const Conf &conf)
{
    auto demands = demands_of({job}, conf);
    return demands.empty() ? Names{} : demands[0].pools;
}

} // namespace

TEST_CASE("a batch job that waits for nodes asks for its share of each")
{
    Job job = waiting_job(7, 4);
    job.tasks = 10;
    job.cpus_per_task = 2;
    auto demands = demands_of({job}, make_conf());
    REQUIRE(demands.size() == 1);
    CHECK(demands[0].job == 7);
    CHECK(demands[0].nodes == 4);
    CHECK(demands[0].cpus == 5);
    CHECK(demands[0].memory == MebiBytes{100});
    CHECK(demands[0].pools == Names{"p"});
    CHECK_FALSE(demands[0].whole_nodes);

    job.memory_per_node = {};
    job.memory_per_cpu = MebiBytes{200};
    job.exclusive = true;
    demands = demands_of({job}, make_conf());
    CHECK(demands[0].memory == MebiBytes{1000});
    CHECK(demands[0].whole_nodes);
}

TEST_CASE("devices are asked for by the name that kubelets offer")
{
    Conf conf = make_conf();
    conf.node_pools[0].gres = "gpu:h100:8,gpu:a100:8";
    conf.device_gres = {{"gpu.example.com", "gpu", "class"},
                        {"example.com/a100", "gpu", "a100"},
                        {"example.com/h100", "gpu", "h100"}};
    Job job = waiting_job(7, 2);
    job.gres_per_node = "gres/gpu:h100:4";
    using Devices = std::map<std::string, std::uint64_t>;
    CHECK(demands_of({job}, conf)[0].devices ==
          Devices{{"example.com/h100", 4}});

    job.gres_per_node = "gres/gpu:2"; // of any type: the first
    CHECK(demands_of({job}, conf)[0].devices ==
          Devices{{"example.com/a100", 2}});

    job.gres_per_node.clear();
    job.gres_per_task = "gres/gpu:a100:3";
    job.tasks = 3;
    CHECK(demands_of({job}, conf)[0].devices ==
          Devices{{"example.com/a100", 5}});
}

TEST_CASE("jobs that more nodes would not start ask for none, nor do others")
{
    Job held = waiting_job(1);
    held.wants_nodes = false;
    Job runs = waiting_job(2);
    runs.state = JobState::running;
    Job has_pods = waiting_job(3);
    has_pods.tag.uid = "u";
    Job of_pods = waiting_job(4);
    of_pods.tag.script.clear();
    CHECK(demands_of({held, runs, has_pods, of_pods}, make_conf()).empty());

    Conf no_pools = make_conf();
    no_pools.node_pools.clear();
    CHECK(demands_of({waiting_job(5)}, no_pools).empty());
    Conf off = make_conf();
    off.batch_namespace.clear();
    CHECK(demands_of({waiting_job(5)}, off).empty());
}

TEST_CASE("a pool counts if its nodes are large enough for a job's share")
{
    Conf conf = make_conf();
    conf.node_pools[0].gres = "gpu:a100:2";
    Job job = waiting_job(7);
    job.cpus_per_task = 8;
    job.gres_per_node = "gres/gpu:a100:2";
    CHECK(pools_of(job, conf) == Names{"p"});

    SUBCASE("CPUs")
    {
        job.cpus_per_task = 9;
    }
    SUBCASE("memory")
    {
        job.memory_per_node = MebiBytes{32001};
    }
    SUBCASE("GRES")
    {
        job.gres_per_node = "gres/gpu:a100:3";
    }
    SUBCASE("a type")
    {
        job.gres_per_node = "gres/gpu:h100:1";
    }
    CHECK(pools_of(job, conf).empty());
}

TEST_CASE("a pool counts if its nodes are in a partition of the job, and have "
          "its features")
{
    Conf conf = make_conf();
    conf.node_pools.push_back(make_pool("q"));
    conf.node_pools[1].partitions = "gpu,long";
    conf.node_pools[1].labels["zone"] = "eu";
    conf.feature_labels = {{"zone", "zone"}};
    Job job = waiting_job(7);
    job.partition = "short";
    CHECK(pools_of(job, conf) == Names{"p"}); // which names no partition
    job.partition = "short,long";
    CHECK(pools_of(job, conf) == Names{"p", "q"});
    job.features = "k8s&k8s.zone.eu&k8s-untainted";
    CHECK(pools_of(job, conf) == Names{"q"});
    job.features = "k8s&k8s-0123456789abcdef&(k8s.zone.us|k8s.zone.eu)";
    CHECK(pools_of(job, conf) == Names{"q"});
}

TEST_CASE("all components of a heterogeneous job ask, or none")
{
    Job job = waiting_job(7);
    job.components = {waiting_job(7, 1), waiting_job(8, 3)};
    auto demands = demands_of({job}, make_conf());
    REQUIRE(demands.size() == 2);
    CHECK(demands[1].job == 8);
    CHECK(demands[1].leader == 7);
    CHECK(demands[1].nodes == 3);

    job.components[1].cpus_per_task = 9;
    CHECK(demands_of({job}, make_conf()).empty());
}

TEST_CASE("the tasks of an array that wait ask each, as far as there is room")
{
    Job job = waiting_job(7, 2);
    job.array_tasks = 10;
    auto demands = demands_of({job}, make_conf());
    REQUIRE(demands.size() == 1);
    CHECK(demands[0].array);
    CHECK(demands[0].tasks == 10);

    job.array_tasks = most_demand_pods;
    CHECK(demands_of({job}, make_conf())[0].tasks == most_demand_pods / 2);
}

TEST_CASE("the first in the queue ask first, each for all of its nodes or none")
{
    Job large = waiting_job(1, most_demand_pods);
    large.priority = 5;
    Job small = waiting_job(2, 3);
    small.priority = 9;
    Job last = waiting_job(3, 4);
    last.priority = 1;
    Job enormous = waiting_job(4, UINT32_MAX);
    enormous.priority = 99;
    auto demands = demands_of({large, small, last, enormous}, make_conf());
    REQUIRE(demands.size() == 2);
    CHECK(demands[0].job == 2);
    CHECK(demands[1].job == 3);
}
