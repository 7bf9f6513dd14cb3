// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/plugins/job_submit/burst_bed.h"

#include <doctest/doctest.h>
#include <functional>

using namespace bridge;

namespace {

using Change = std::function<void(BurstBed &)>;

struct Row {
    const char *name;
    Change change;
};

void check_all(std::initializer_list<Row> rows, bool fits)
{
    for (const Row &row : rows) {
        BurstBed bed;
        row.change(bed);
        CAPTURE(row.name);
        CAPTURE(bed.judge());
        CHECK(bed.judge().empty() == fits);
    }
}

} // namespace

TEST_CASE("a partition that takes everything takes a small job")
{
    CHECK(BurstBed().judge() == "");
}

TEST_CASE("a partition is left out where slurmctld would deny access")
{
    check_all(
        {
            {"DOWN", [](BurstBed &b) { b.burst().up = false; }},
            {"RootOnly",
             [](BurstBed &b) { b.burst().flags = PART_FLAG_ROOT_ONLY; }},
            {"ReqResv",
             [](BurstBed &b) { b.burst().flags = PART_FLAG_REQ_RESV; }},
            {"DisableRootJobs",
             [](BurstBed &b) {
                 b.burst().flags = PART_FLAG_NO_ROOT;
                 b.desc.user_id = 0;
             }},
            {"AllocNodes",
             [](BurstBed &b) { b.burst().allow_alloc_nodes = "login2"; }},
            {"AllocNodes, and no host",
             [](BurstBed &b) {
                 b.burst().allow_alloc_nodes = "login1";
                 b.desc.alloc_node = nullptr;
             }},
            {"AllowGroups",
             [](BurstBed &b) {
                 b.burst().allow_groups = {"staff"};
                 b.in_groups = Membership::no;
             }},
            {"AllowGroups, and the user's groups are not known",
             [](BurstBed &b) {
                 b.burst().allow_groups = {"staff"};
                 b.in_groups = Membership::unknown;
             }},
            {"an association of a partition",
             [](BurstBed &b) { b.same_association = false; }},
            {"AllowAccounts",
             [](BurstBed &b) { b.burst().allow_accounts = {"biology"}; }},
            {"DenyAccounts, of an account above",
             [](BurstBed &b) { b.burst().deny_accounts = {"science"}; }},
            {"AllowAccounts, and no account",
             [](BurstBed &b) {
                 b.burst().allow_accounts = {"physics"};
                 b.facts.accounts.clear();
             }},
            {"AllowQos", [](BurstBed &b) { b.burst().allow_qos = {"high"}; }},
            {"DenyQos", [](BurstBed &b) { b.burst().deny_qos = {"normal"}; }},
            {"DenyQos, and no QOS",
             [](BurstBed &b) {
                 b.burst().deny_qos = {"high"};
                 b.facts.qos.clear();
             }},
            {"a QOS that refuses",
             [](BurstBed &b) { b.burst().qos_refuses = true; }},
        },
        false);
    check_all(
        {
            {"DisableRootJobs, not root",
             [](BurstBed &b) { b.burst().flags = PART_FLAG_NO_ROOT; }},
            {"AllocNodes",
             [](BurstBed &b) { b.burst().allow_alloc_nodes = "x,login1"; }},
            {"AllocNodes=ALL",
             [](BurstBed &b) { b.burst().allow_alloc_nodes = "ALL"; }},
            {"AllowGroups",
             [](BurstBed &b) { b.burst().allow_groups = {"staff"}; }},
            {"no AllowGroups, and no look-up",
             [](BurstBed &b) { b.facts.in_groups = nullptr; }},
            {"AllowAccounts, of an account above",
             [](BurstBed &b) { b.burst().allow_accounts = {"x", "science"}; }},
            {"AllowAccounts, not enforced",
             [](BurstBed &b) {
                 b.burst().allow_accounts = {"biology"};
                 b.facts.enforces_accounts = false;
             }},
            {"DenyAccounts",
             [](BurstBed &b) { b.burst().deny_accounts = {"biology"}; }},
            {"AllowQos", [](BurstBed &b) { b.burst().allow_qos = {"normal"}; }},
            {"DenyQos", [](BurstBed &b) { b.burst().deny_qos = {"high"}; }},
        },
        true);
}

TEST_CASE("the log tells groups that are not known from groups of others")
{
    BurstBed bed;
    bed.burst().allow_groups = {"staff"};
    bed.in_groups = Membership::unknown;
    CHECK(bed.judge() == "the user's groups are not known yet");
    bed.in_groups = Membership::no;
    CHECK(bed.judge() == "its groups exclude the user");
}

TEST_CASE("a partition is left out where the job is beyond its limits")
{
    check_all(
        {
            {"MaxTime",
             [](BurstBed &b) {
                 b.burst().max_time = 60;
                 b.desc.time_limit = 61;
             }},
            {"MaxTime, and the job's is without end",
             [](BurstBed &b) {
                 b.burst().max_time = 60;
                 b.desc.time_limit = INFINITE;
             }},
            {"MaxTime, and the job has the DefaultTime of its own",
             [](BurstBed &b) {
                 b.burst().max_time = 60;
                 b.own().default_time = 120;
             }},
            {"MaxTime, and the job has the MaxTime of its own",
             [](BurstBed &b) {
                 b.burst().max_time = 60;
                 b.own().max_time = 120;
             }},
            {"MinNodes", [](BurstBed &b) { b.burst().min_nodes = 2; }},
            {"MaxNodes",
             [](BurstBed &b) {
                 b.burst().max_nodes = 1;
                 b.desc.max_nodes = 2;
             }},
            {"MaxMemPerNode",
             [](BurstBed &b) {
                 b.burst().max_memory = 1000;
                 b.desc.pn_min_memory = 1001;
             }},
            {"MaxMemPerNode, and memory of a CPU",
             [](BurstBed &b) {
                 b.burst().max_memory = 1000;
                 b.desc.pn_min_memory = 10 | MEM_PER_CPU;
             }},
            {"MaxMemPerCPU, which would raise the CPUs",
             [](BurstBed &b) {
                 b.burst().max_memory = 1000 | MEM_PER_CPU;
                 b.desc.pn_min_memory = 2000 | MEM_PER_CPU;
             }},
        },
        false);
    check_all(
        {
            {"MaxTime",
             [](BurstBed &b) {
                 b.burst().max_time = 60;
                 b.desc.time_limit = 60;
             }},
            {"MaxTime, and DefaultTime",
             [](BurstBed &b) {
                 b.burst().max_time = 60;
                 b.own().default_time = 60;
             }},
            {"MaxMemPerCPU",
             [](BurstBed &b) {
                 b.burst().max_memory = 1000 | MEM_PER_CPU;
                 b.desc.pn_min_memory = 1000 | MEM_PER_CPU;
             }},
        },
        true);
}

TEST_CASE("a job that its own partition would refuse stays as it is")
{
    check_all({{"MaxTime",
                [](BurstBed &b) {
                    b.own().max_time = 60;
                    b.desc.time_limit = 61;
                }},
               {"MinNodes", [](BurstBed &b) { b.own().min_nodes = 2; }},
               {"MaxNodes",
                [](BurstBed &b) {
                    b.own().max_nodes = 1;
                    b.desc.min_nodes = b.desc.num_tasks = 2;
                }},
               {"MaxMemPerNode",
                [](BurstBed &b) {
                    b.own().max_memory = 1000;
                    b.desc.pn_min_memory = 1001;
                }}},
              false);
}

TEST_CASE("the nodes of the partition have to be able to hold the job")
{
    check_all(
        {
            {"nodes",
             [](BurstBed &b) { b.desc.min_nodes = b.desc.num_tasks = 3; }},
            {"tasks", [](BurstBed &b) { b.desc.num_tasks = 17; }},
            {"CPUs", [](BurstBed &b) { b.desc.min_cpus = 17; }},
            {"CPUs of a task", [](BurstBed &b) { b.desc.cpus_per_task = 9; }},
            {"CPUs of a node",
             [](BurstBed &b) {
                 b.desc.num_tasks = b.desc.ntasks_per_node = 9;
             }},
            {"CPUs of a node by --mincpus",
             [](BurstBed &b) { b.desc.pn_min_cpus = 9; }},
            {"MaxCPUsPerNode",
             [](BurstBed &b) {
                 b.burst().max_cpus_per_node = 1;
                 b.desc.num_tasks = 3;
             }},
            {"memory", [](BurstBed &b) { b.desc.pn_min_memory = 32001; }},
            {"memory of a CPU",
             [](BurstBed &b) {
                 b.desc.pn_min_memory = 16001 | MEM_PER_CPU;
                 b.desc.cpus_per_task = 2;
             }},
            {"a feature", [](BurstBed &b) { b.desc.features = text_of("ib"); }},
            {"features",
             [](BurstBed &b) { b.desc.features = text_of("w&ib"); }},
            {"a constraint that is not understood",
             [](BurstBed &b) { b.desc.features = text_of("w|ib"); }},
            {"a GRES",
             [](BurstBed &b) {
                 b.desc.tres_per_node = text_of("gres/fpga:1");
             }},
            {"one of two GRES",
             [](BurstBed &b) {
                 b.desc.tres_per_job = text_of("gres:gpu:1,gres:fpga:1");
             }},
            {"external nodes only",
             [](BurstBed &b) { b.burst().sizes.clear(); }},
            {"no node, with EnforcePartLimits=ALL",
             [](BurstBed &b) {
                 b.view.partitions["burst"] = open_partition(0, {});
             }},
        },
        false);
    check_all(
        {
            {"all",
             [](BurstBed &b) {
                 b.desc.min_nodes = 2;
                 b.desc.num_tasks = b.desc.min_cpus = 16;
                 b.desc.ntasks_per_node = 8;
                 b.desc.pn_min_memory = 32000;
             }},
            {"features",
             [](BurstBed &b) { b.desc.features = text_of("k8s&w"); }},
            {"GRES",
             [](BurstBed &b) {
                 b.desc.tres_per_node = text_of("gres/gpu:a100:1,gres/nic");
                 b.desc.tres_per_task = text_of("cpu=2");
             }},
            {"no node yet",
             [](BurstBed &b) {
                 b.view.partitions["burst"] = open_partition(0, {});
                 b.facts.enforces_all = false;
             }},
        },
        true);
}
