// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/demand.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

// Sets of nodes with 4 CPUs, 1000 MiB and 2 GPUs in the partition of their
// name.
struct Bed {
    std::vector<WorkerSet> sets;
    std::vector<SetFacts> facts;
    std::vector<WaitingJob> jobs;
    std::map<std::string, std::uint32_t> elsewhere;

    explicit Bed(std::initializer_list<const char *> names = {"w"})
    {
        for (const char *name : names) {
            WorkerSet set;
            set.key = {"ns", name};
            set.potential =
                PotentialWorkers{.range = {0, 8},
                                 .idle_time = std::chrono::seconds(300),
                                 .prefix = name + std::string("-"),
                                 .digits = 0,
                                 .conf = "CPUs=4"};
            sets.push_back(set);
        }
        for (WorkerSet &set : sets)
            facts.push_back({.set = &set,
                             .size = NodeCapacity{4,
                                                  MebiBytes{1000},
                                                  {{"gpu", 2}},
                                                  set.key.name},
                             .partitions = {set.key.name}});
    }

    WaitingJob &add(std::uint32_t nodes = 1, std::uint32_t cpus = 1,
                    const std::string &partition = "w")
    {
        WaitingJob job;
        job.id = static_cast<JobId>(jobs.size() + 1);
        job.priority = 100;
        job.partitions = {partition};
        job.nodes = nodes;
        job.cpus = cpus;
        job.tasks = cpus;
        jobs.push_back(job);
        return jobs.back();
    }

    std::uint32_t wanted(const std::string &name = "w") const
    {
        return plan_replicas(facts, jobs, elsewhere).at({"ns", name});
    }
};

} // namespace

TEST_CASE("without jobs a set has its least number of workers")
{
    Bed bed;
    CHECK(bed.wanted() == 0);
    bed.sets[0].potential->range.least = 2;
    CHECK(bed.wanted() == 2);
}

TEST_CASE("a job of several nodes counts so many, up to the largest number")
{
    Bed bed;
    bed.add(3, 3);
    CHECK(bed.wanted() == 3);
    bed.add(5, 5);
    CHECK(bed.wanted() == 8);
    bed.add(1, 4);
    CHECK(bed.wanted() == 8);
}

TEST_CASE("a job that cannot get all of its nodes gets none")
{
    Bed bed;
    bed.facts[0].busy = 6;
    bed.add(3, 3);
    CHECK(bed.wanted() == 6);
    bed.add(2, 2); // a later one fits
    CHECK(bed.wanted() == 8);
    bed.jobs.resize(1);
    bed.elsewhere["w"] = 1; // a node of nobody's set
    CHECK(bed.wanted() == 8);
}

TEST_CASE("small jobs are packed into nodes of the set's size")
{
    Bed bed;
    for (int i = 0; i < 8; i++)
        bed.add();
    CHECK(bed.wanted() == 2);
    bed.jobs.clear();
    for (int i = 0; i < 3; i++)
        bed.add().memory_per_node.value = 600;
    CHECK(bed.wanted() == 3);
    bed.jobs.clear();
    for (int i = 0; i < 4; i++)
        bed.add().gres_per_node = {{"gpu", 1}};
    CHECK(bed.wanted() == 2);
    bed.jobs.clear();
    for (int i = 0; i < 4; i++)
        bed.add().whole_nodes = true;
    CHECK(bed.wanted() == 4);
    bed.jobs.clear();
    bed.add().count = 10; // of an array
    CHECK(bed.wanted() == 3);
}

TEST_CASE("jobs that no node of the set can run are none of its demand")
{
    auto wanted = [](auto change) {
        Bed bed;
        change(bed.add());
        return bed.wanted();
    };
    CHECK(wanted([](WaitingJob &) {}) == 1);
    CHECK(wanted([](WaitingJob &job) { job.features = "other"; }) == 0);
    CHECK(wanted([](WaitingJob &job) { job.partitions = {"x"}; }) == 0);
    CHECK(wanted([](WaitingJob &job) { job.cpus_per_node = 5; }) == 0);
    CHECK(wanted([](WaitingJob &job) { job.memory_per_node.value = 1001; }) ==
          0);
    CHECK(wanted([](WaitingJob &job) { job.gres_per_node = {{"gpu", 3}}; }) ==
          0);
    CHECK(wanted([](WaitingJob &job) {
              job.gres_per_node = {{"gpu:a100", 1}};
          }) == 0);
    CHECK(wanted([](WaitingJob &job) {
              job.cpus = 8;
              job.max_nodes = 1;
          }) == 0);
    CHECK(wanted([](WaitingJob &job) { job.nodes = 9; }) == 0);
}

TEST_CASE("CPUs, tasks, memory and GRES of the whole job say how many nodes")
{
    auto nodes = [](auto change) {
        WaitingJob job;
        change(job);
        auto share = share_of(job, {4, MebiBytes{1000}, {{"gpu", 2}}, "w"});
        return share ? share->nodes : 0;
    };
    CHECK(nodes([](WaitingJob &job) { job.cpus = 9; }) == 3);
    CHECK(nodes([](WaitingJob &job) {
              job.tasks = job.cpus = 4;
              job.tasks_per_node = 1;
          }) == 4);
    CHECK(nodes([](WaitingJob &job) {
              job.cpus = 4;
              job.memory_per_cpu.value = 500;
          }) == 2);
    CHECK(nodes([](WaitingJob &job) { job.memory_per_cpu.value = 1001; }) == 0);
    CHECK(nodes([](WaitingJob &job) {
              job.tasks = job.cpus = 5;
              job.gres_per_task = {{"gpu", 1}};
          }) == 3);
    CHECK(nodes([](WaitingJob &job) { job.gres_per_job = {{"gpu", 5}}; }) == 3);
}

TEST_CASE("workers with jobs stay, idle ones serve what waits")
{
    Bed bed;
    bed.facts[0].busy = 2;
    CHECK(bed.wanted() == 2);
    bed.facts[0].fresh = 1;
    CHECK(bed.wanted() == 3);
    bed.add(1, 4);
    CHECK(bed.wanted() == 3);
    bed.add(1, 4);
    CHECK(bed.wanted() == 4);
    bed.facts[0].blocked = 1;
    CHECK(bed.wanted() == 5);
}

TEST_CASE("a job of several partitions counts once, where there is room")
{
    Bed bed({"a", "b"});
    bed.add(2, 2, "a").partitions = {"a", "b"};
    CHECK(bed.wanted("a") == 2);
    CHECK(bed.wanted("b") == 0);
    bed.facts[0].busy = 7;
    CHECK(bed.wanted("a") == 7);
    CHECK(bed.wanted("b") == 2);
}

TEST_CASE("a job may need the nodes of two sets of its partition")
{
    Bed bed({"a", "b"});
    bed.facts[0].partitions = bed.facts[1].partitions = {"w"};
    bed.add(10, 10);
    CHECK(bed.wanted("a") == 8);
    CHECK(bed.wanted("b") == 2);
    bed.jobs.clear();
    bed.add(17, 17);
    CHECK(bed.wanted("a") == 0);
}

TEST_CASE("who goes first in the queue gets the room")
{
    Bed bed;
    bed.facts[0].busy = 5;
    bed.add(1, 4);
    bed.add(1, 4);
    bed.add(3, 3).priority = 200;
    CHECK(bed.wanted() == 8);
    bed.facts[0].busy = 6; // the large one cannot start anyway
    CHECK(bed.wanted() == 8);
}

TEST_CASE("a job that names nodes needs all up to these")
{
    Bed bed;
    bed.add().required = {"w-4"};
    CHECK(bed.wanted() == 5);
    bed.jobs[0].required = {"w-8"}; // there is none
    CHECK(bed.wanted() == 1);
    bed.jobs[0].required.clear();
    bed.jobs[0].excluded = {"w-0", "x"};
    CHECK(bed.wanted() == 2);
}

TEST_CASE("without a node in slurmctld no job can want one")
{
    Bed bed;
    bed.add();
    bed.facts[0].size.reset();
    CHECK(bed.wanted() == 0);
    bed.facts[0].busy = 2;
    CHECK(bed.wanted() == 2);
}
