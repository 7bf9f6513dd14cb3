// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's records of jobs and partitions as our values.
#include "common/slurm/adoption_tier.h"
#include "common/slurm/job_record.h"
#include "common/slurm/partition_record.h"

#include <doctest/doctest.h>
#include <functional>

using namespace bridge;

namespace {

char *own(const char *text)
{
    return const_cast<char *>(text);
}

struct Records {
    slurm_conf_t conf{};
    partition_info_t own_one{};
    partition_info_t high{};

    Records()
    {
        own_one.name = own("own");
        high.name = own("high");
        own_one.priority_tier = 10;
        high.priority_tier = 100;
        for (partition_info_t *one : {&own_one, &high}) {
            one->state_up = PARTITION_UP;
            one->preempt_mode = NO_VAL16;
            one->max_share = 1;
            one->max_cpus_per_node = INFINITE;
            one->max_cpus_per_socket = INFINITE;
        }
    }
    // Where a job that adopts may start that one in "high" keeps from its node.
    std::string answer() const
    {
        std::vector<Partition> all{partition_of(own_one, conf),
                                   partition_of(high, conf)};
        for (Partition &one : all)
            one.nodes = {"n1"};
        NodeUse ours, other;
        ours.job = {7, Sluid{7}};
        ours.partitions = "own";
        ours.features = "k8s-node-n1";
        other.job = {8, Sluid{8}};
        other.partitions = "high";
        ours.pending = ours.in_line = other.pending = other.in_line = true;
        auto found = behind_higher_tiers({ours.job}, {ours, other}, all);
        return found.empty() ? "" : found.front().partitions;
    }
};

} // namespace

TEST_CASE("a partition of a higher tier is as another where slurmctld treats "
          "jobs alike")
{
    CHECK(Records{}.answer() == "high,own");
    const std::function<void(partition_info_t &)> rows[] = {
        [](auto &one) { one.max_mem_per_cpu = 1000 | MEM_PER_CPU; },
        [](auto &one) { one.max_cpus_per_node = 8; },
        [](auto &one) { one.max_cpus_per_socket = 4; },
        [](auto &one) { one.max_share = 4; },
        [](auto &one) { one.preempt_mode = PREEMPT_MODE_OFF; },
        [](auto &one) { one.flags = PART_FLAG_EXCLUSIVE_USER; },
        [](auto &one) { one.flags = PART_FLAG_EXCLUSIVE_TOPO; },
        [](auto &one) { one.flags = PART_FLAG_ROOT_ONLY; },
        [](auto &one) { one.billing_weights_str = own("CPU=2.0"); },
        [](auto &one) { one.qos_char = own("urgent"); },
        [](auto &one) { one.state_up = PARTITION_DOWN; }};
    for (std::size_t i = 0; i < std::size(rows); i++) {
        CAPTURE(i);
        Records records;
        rows[i](records.high);
        CHECK(records.answer() == "");
    }
}

TEST_CASE(
    "what each partition has of its own does not matter where both have it")
{
    Records records;
    for (partition_info_t *one : {&records.own_one, &records.high}) {
        one->max_mem_per_cpu = 1000 | MEM_PER_CPU;
        one->max_cpus_per_node = 8;
    }

    CHECK(records.answer() == "high,own");
}

TEST_CASE(
    "a job was given GRES also where accounting or we do not understand it")
{
    slurm_job_info_t info{};
    info.job_state = JOB_RUNNING;
    CHECK_FALSE(job_of(info).devices);
    info.tres_alloc_str = own("cpu=1,gres/gpu=2");
    CHECK(job_of(info).devices);

    info.tres_alloc_str = own("cpu=1"); // not in AccountingStorageTRES
    char *details[] = {own("gpu:a100:2(IDX:0-1)")};
    info.gres_detail_str = details;
    info.gres_detail_cnt = 1;
    CHECK(job_of(info).devices);
    CHECK(job_of(info).gres_on.size() == 1);
    details[0] = own("gpu:a100:9(IDX:0,2,4)"); // cut short
    CHECK(job_of(info).devices);
    CHECK(job_of(info).gres_on.empty());
}

TEST_CASE("Slurm's times tell whether a job was suspended before")
{
    slurm_job_info_t info{};
    info.job_state = JOB_RUNNING;
    info.start_time = 1000;
    info.partition = own("low");
    CHECK_FALSE(job_of(info).resumed);
    CHECK(job_of(info).partition == "low");

    info.job_state = JOB_SUSPENDED; // the first time
    info.suspend_time = 1060;
    info.pre_sus_time = 60;
    CHECK_FALSE(job_of(info).resumed);

    info.job_state = JOB_RUNNING; // ten seconds later
    info.suspend_time = 1070;
    CHECK(job_of(info).resumed);

    info.job_state = JOB_SUSPENDED; // the second time
    info.suspend_time = 1100;
    info.pre_sus_time = 90;
    CHECK(job_of(info).resumed);
}

TEST_CASE("the nodes that a job requests, and those that it excludes")
{
    slurm_job_info_t info{};
    info.req_nodes = own("n1,n2");
    info.exc_nodes = own("n[3-4]");
    info.job_state = JOB_PENDING;
    using Names = std::vector<std::string>;
    auto uses = uses_of(info);
    REQUIRE(uses.size() == 2);
    CHECK(uses[0].named == Names{"n1", "n2"});
    CHECK(uses[0].pending);
    CHECK_FALSE(uses[0].over);
    CHECK(uses[1].named == Names{"n3", "n4"});
    CHECK_FALSE(uses[1].pending);
    CHECK(uses[1].over); // so it keeps no node: agent/nodes/removal.h
    info.exc_nodes = nullptr;
    CHECK(uses_of(info).size() == 1);
    info.job_state = JOB_RUNNING;
    info.req_nodes = nullptr;
    CHECK(uses_of(info).empty());
}
