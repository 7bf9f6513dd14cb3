// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_slurm.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// The partition main has native1, burst has w-0; both have a slurmd.
SlurmFacts good()
{
    SlurmFacts slurm;
    slurm.job_submit_plugins = {"k8s"};
    slurm.enforces_all_limits = true;
    for (auto [name, node, tier] :
         {std::tuple{"main", "native1", 10}, {"burst", "w-0", 1}}) {
        PartitionFacts partition;
        partition.name = name;
        partition.nodes = {node};
        partition.priority_tier = static_cast<std::uint16_t>(tier);
        slurm.partitions.push_back(partition);
        SlurmNode made;
        made.name = node;
        slurm.nodes.push_back(made);
    }
    return slurm;
}

Findings check(const SlurmFacts &slurm, std::vector<BurstRule> rules)
{
    Conf conf;
    conf.bursts = std::move(rules);
    return check_bursts(slurm, conf);
}

} // namespace

TEST_CASE("a rule between two partitions with slurmds is fine")
{
    CHECK(check(good(), {{"main", "burst"}}).empty());
    CHECK(check(SlurmFacts{}, {}).empty());
}

TEST_CASE("a rule's partition that does not exist is an error")
{
    Findings found = check(good(), {{"main", "gone"}, {"lost", "burst"}});

    REQUIRE(found.size() == 2);
    CHECK(found[0].severity == Severity::error);
    CHECK(found[0].about == "partition gone");
    CHECK(found[0].says.contains("Burst=main:gone"));
    CHECK(found[1].about == "partition lost");
}

TEST_CASE("a partition of the same tier takes jobs that have room elsewhere")
{
    SlurmFacts slurm = good();
    slurm.partitions[1].priority_tier = 10;
    Findings found = check(slurm, {{"main", "burst"}});

    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].change == "PartitionName=burst ... PriorityTier=9");
}

TEST_CASE("a partition without a slurmd is told")
{
    SlurmFacts slurm = good();
    slurm.nodes[1].external = true;
    Findings found = check(slurm, {{"main", "burst"}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::error);
    CHECK(found[0].says.contains("no slurmd"));

    slurm.partitions[1].nodes.clear();
    found = check(slurm, {{"main", "burst"}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].change == "EnforcePartLimits=ANY");
    slurm.enforces_all_limits = false;
    CHECK(check(slurm, {{"main", "burst"}}).empty());
}

TEST_CASE("without job_submit/k8s the rules do nothing")
{
    SlurmFacts slurm = good();
    slurm.job_submit_plugins = {"lua"};

    REQUIRE(check(slurm, {{"main", "burst"}}).size() == 1);
    CHECK(check(slurm, {}).empty());
}
