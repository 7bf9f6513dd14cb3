// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/slurm_lines.h"

#include "cli/check/check_slurm.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <iterator>

using namespace bridge;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

// A site as it is before anything of ours: Slurm's defaults.
SlurmFacts plain()
{
    SlurmFacts slurm;
    slurm.job_submit_plugins = {"lua"};
    slurm.prep_plugins = {"script"};
    slurm.max_nodes = 5000;
    slurm.min_job_age = 300s;
    slurm.select_type = "select/cons_tres";
    slurm.counts_memory = true;
    slurm.enforces_part_limits = true;
    slurm.scheduler_type = "sched/backfill";
    slurm.scheduler_parameters = {{"bf_interval", "30"}, {"bf_continue", ""}};
    return slurm;
}

Lines lacking(const SlurmFacts &slurm)
{
    Findings all;
    for (Findings found : {check_plugins(slurm), check_node_table(slurm, 10),
                           check_job_age(slurm), check_select(slurm),
                           check_scheduler(slurm), check_limits(slurm)})
        std::ranges::move(found, std::back_inserter(all));
    return lacking_lines(all, slurm, "k8s");
}

} // namespace

TEST_CASE("each key is one line, with all words that are wanted and those that "
          "are there")
{
    CHECK(lacking(plain()) ==
          Lines{"JobSubmitPlugins=lua,k8s", "PrEpPlugins=prep/script,prep/k8s",
                "SchedulerParameters=batch_sched_delay=0,bf_continue,"
                "bf_interval=5,default_queue_depth=1000,"
                "partition_job_depth=200",
                "NodeSet=k8s Feature=k8s", "PartitionName=k8s Nodes=k8s"});
}

TEST_CASE("no value of the site is lowered")
{
    SlurmFacts slurm = plain();
    slurm.min_job_age = 3600s;
    slurm.max_nodes = 20000;
    slurm.scheduler_parameters["default_queue_depth"] = "5000";

    for (const std::string &line : lacking(slurm)) {
        CAPTURE(line);
        CHECK_FALSE(line.starts_with("MaxNodeCount"));
        CHECK_FALSE(line.starts_with("MinJobAge"));
        CHECK_FALSE(line.contains("default_queue_depth=1000"));
    }
}

TEST_CASE("a site that has all lines lacks none")
{
    SlurmFacts slurm = plain();
    slurm.job_submit_plugins = {"k8s"};
    slurm.prep_plugins = {"script", "k8s"};
    slurm.scheduler_parameters = {{"batch_sched_delay", "0"},
                                  {"bf_interval", "5"},
                                  {"default_queue_depth", "1000"},
                                  {"partition_job_depth", "200"}};
    PartitionFacts partition;
    partition.name = "k8s";
    slurm.partitions = {partition};
    CHECK(lacking(slurm).empty());
}

TEST_CASE("slurm.conf is read with comments, continued lines and includes")
{
    SlurmConfText conf = read_slurm_conf("# JobSubmitPlugins=no\n"
                                         "PrEpPlugins = prep/script # x\n"
                                         "SchedulerParameters=a,\\\n"
                                         "b\n"
                                         "Include other.conf\r\n"
                                         "NodeName=n1 CPUs=2");

    CHECK(conf.keys == std::set<std::string>{
                           "prepplugins", "schedulerparameters", "nodename"});
    CHECK(conf.lines == Lines{"PrEpPlugins = prep/script",
                              "SchedulerParameters=a,b", "NodeName=n1 CPUs=2"});
    CHECK(conf.includes == Lines{"other.conf"});
    CHECK(read_slurm_conf("").lines.empty());
}

TEST_CASE("a key that slurm.conf sets does not go into the file to include")
{
    SlurmConfText conf =
        read_slurm_conf("jobsubmitplugins=lua\nPartitionName=batch Nodes=n1\n"
                        "MinJobAge=300\n");
    SplitLines split = split_lines({"JobSubmitPlugins=lua,k8s", "MinJobAge=300",
                                    "PrEpPlugins=prep/script,prep/k8s",
                                    "PartitionName=k8s Nodes=k8s"},
                                   conf);

    CHECK(split.to_change == Lines{"JobSubmitPlugins=lua,k8s"});
    CHECK(split.there == Lines{"MinJobAge=300"});
    CHECK(split.to_include == Lines{"PrEpPlugins=prep/script,prep/k8s",
                                    "PartitionName=k8s Nodes=k8s"});
}

TEST_CASE("the file to include keeps its lines, and sets each key once")
{
    std::string first =
        include_text("", {"MaxNodeCount=1024", "PartitionName=k8s Nodes=k8s"});
    std::string second = include_text(
        first, {"MaxNodeCount=4096", "PartitionName=gpu Nodes=gpu"});

    CHECK(read_slurm_conf(second).lines ==
          Lines{"PartitionName=k8s Nodes=k8s", "MaxNodeCount=4096",
                "PartitionName=gpu Nodes=gpu"});
    // The same again changes nothing.
    CHECK(include_text(first, {"MaxNodeCount=1024",
                               "PartitionName=k8s Nodes=k8s"}) == first);
}
