// SPDX-License-Identifier: GPL-2.0-or-later
// Records of nodes whose Pods have gone for good.
#include "tests/unit/workers/keeper_bed.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

// A worker that was asked to go for good, and is drained.
WorkerPod leaving(KeeperBed &bed, const std::string &name)
{
    WorkerPod pod = bed.worker(name);
    pod.for_good = true;
    return bed.answered(pod);
}

bool has_node(KeeperBed &bed, const std::string &name)
{
    return std::ranges::contains(*bed.slurm.load_nodes(), name,
                                 &SlurmNode::name);
}

} // namespace

TEST_CASE("workers: the record of a Pod that is gone for good is removed")
{
    KeeperBed bed;
    WorkerPod pod = leaving(bed, "w-0");
    CHECK(bed.slurm.node("w-0").reason ==
          "slurm-operator: Pod slurm/w-0 is to be removed for good");
    REQUIRE(bed.turn().has_value());
    CHECK(has_node(bed, "w-0")); // as long as the Pod is there
    bed.keeper.remove(pod);
    for (int i = 0; i < 7; i++)
        REQUIRE(bed.turn().has_value());
    CHECK_FALSE(has_node(bed, "w-0"));
    std::size_t loads = bed.slurm.count("load_nodes");
    REQUIRE(bed.turn().has_value());
    CHECK(bed.slurm.count("load_nodes") == loads); // nothing is left
}

TEST_CASE("workers: a Pod that was asked to go for good and is gone before its "
          "node was drained: its record goes, too")
{
    KeeperBed bed;
    WorkerPod pod = bed.listed("w-0");
    pod.request = {1, true};
    pod.for_good = true;
    bed.keeper.change(pod);
    bed.keeper.remove(pod);
    for (int i = 0; i < 12; i++)
        REQUIRE(bed.turn().has_value());
    CHECK_FALSE(has_node(bed, "w-0"));
}

TEST_CASE("workers: an agent that starts after the Pod has gone removes its "
          "record, once it has the list")
{
    KeeperBed bed;
    leaving(bed, "w-0");
    WorkerKeeper next(bed.slurm, bed.pods);
    REQUIRE(next.turn(bed.now).has_value());
    next.list("other", {}, {});
    REQUIRE(next.turn(bed.now += 10s).has_value());
    CHECK(has_node(bed, "w-0"));
    SUBCASE("gone")
    {
        next.list("slurm", {}, {});
        REQUIRE(next.turn(bed.now += 10s).has_value());
        CHECK_FALSE(has_node(bed, "w-0"));
    }
    SUBCASE("another Pod has its name")
    {
        next.list("slurm", {bed.worker("w-0", "u2")}, {});
        REQUIRE(next.turn(bed.now += 10s).has_value());
        CHECK(has_node(bed, "w-0"));
    }
}

TEST_CASE("workers: a record stays that somebody has drained, that has a job, "
          "that a job names, or whose Pod is to come back")
{
    KeeperBed bed;
    WorkerPod pod = leaving(bed, "w-0");
    bool stays_for_ever = false;
    SUBCASE("drained by an administrator")
    {
        bed.slurm.set_drained("w-0", "bad DIMM");
        stays_for_ever = true;
    }
    SUBCASE("a job")
    {
        REQUIRE(bed.slurm.resume("w-0").has_value());
        bed.start_job();
        REQUIRE(bed.slurm
                    .drain("w-0", "slurm-operator: Pod slurm/w-0 is to be "
                                  "removed for good")
                    .has_value());
    }
    SUBCASE("named by a pending job")
    {
        bed.slurm.name_node(bed.submit_job(), "w-0");
        stays_for_ever = true;
    }
    SUBCASE("named by a job that has just ended")
    {
        JobRef job = bed.submit_job();
        bed.slurm.name_node(job, "w-0");
        REQUIRE(bed.slurm.cancel(job).has_value());
        stays_for_ever = true; // as long as slurmctld remembers it
    }
    SUBCASE("to come back")
    {
        pod.for_good = false;
        bed.keeper.change(pod);
        REQUIRE(bed.turn().has_value());
        stays_for_ever = true;
    }
    bed.keeper.remove(pod);
    REQUIRE(bed.turn().has_value());
    CHECK(has_node(bed, "w-0"));
    if (!stays_for_ever)
        return;
    for (int i = 0; i < 12; i++)
        REQUIRE(bed.turn().has_value());
    CHECK(has_node(bed, "w-0"));
}
