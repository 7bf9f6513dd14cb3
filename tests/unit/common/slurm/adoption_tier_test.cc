// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/adoption_tier.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr JobRef adopter{7, Sluid{7}};

Partition partition(const std::string &name, std::uint16_t tier)
{
    Partition one;
    one.name = name;
    one.nodes = {"n1", "n2"};
    one.up = true;
    one.tier = tier;
    return one;
}

NodeUse waiting(JobRef job, const std::string &partitions)
{
    NodeUse use;
    use.job = job;
    use.pending = use.in_line = true;
    use.partitions = partitions;
    return use;
}

// A job that adopts waits in "own", one in "high" keeps it from its node.
struct Queue {
    std::vector<Partition> all{partition("own", 10), partition("high", 100)};
    std::vector<NodeUse> uses{waiting(adopter, "own"),
                              waiting({8, Sluid{8}}, "high")};

    Queue()
    {
        uses[0].features = "k8s&k8s-node-n1";
        uses[0].time_limit = 90;
    }
    Partition &own() { return all[0]; }
    Partition &high() { return all[1]; }
    NodeUse &ours() { return uses[0]; }
    NodeUse &other() { return uses[1]; }

    // Where it may start, too; "": it stays where it is.
    std::string answer() const
    {
        auto found = behind_higher_tiers({adopter}, uses, all);
        return found.empty() ? "" : found.front().partitions;
    }
};

} // namespace

TEST_CASE(
    "a job that adopts may start in the tier of those that wait before it")
{
    Queue queue;

    CHECK(behind_higher_tiers({adopter}, queue.uses, queue.all) ==
          std::vector{Widening{adopter, "high,own", 90}});
}

TEST_CASE("it stays in its own partition where nobody is before it")
{
    Queue queue;
    SUBCASE("nobody waits")
    {
        queue.uses.pop_back();
    }
    SUBCASE("who waits is held")
    {
        queue.other().in_line = false;
    }
    SUBCASE("who waits is in its own partition")
    {
        queue.other().partitions = "own";
    }
    SUBCASE("who waits is of its own tier")
    {
        queue.high().tier = 10;
    }
    SUBCASE("of a lower one")
    {
        queue.high().tier = 1;
    }
    SUBCASE("where its node is not")
    {
        queue.high().nodes = {"n2"};
    }
    SUBCASE("in a partition that is gone")
    {
        queue.other().partitions = "x";
    }
    SUBCASE("it is there already")
    {
        queue.ours().partitions = "high,own";
    }

    CHECK(queue.answer() == "");
}

TEST_CASE("it stays there when it is held, or is no job that adopts")
{
    Queue queue;
    SUBCASE("held")
    {
        queue.ours().in_line = false;
    }
    SUBCASE("another job")
    {
        queue.ours().job = {9, Sluid{9}};
    }
    SUBCASE("the id is used again")
    {
        queue.ours().job = {7, Sluid{9}};
    }
    SUBCASE("it asks for no node")
    {
        queue.ours().features = "k8s";
    }
    SUBCASE("its node is gone")
    {
        queue.ours().features = "k8s-node-n9";
    }

    CHECK(queue.answer() == "");
}

TEST_CASE("it stays there where another partition would mean more than a name")
{
    Queue queue;
    SUBCASE("it bills otherwise")
    {
        queue.high().billing = "CPU=2.0";
    }
    SUBCASE("it has limits of its own")
    {
        queue.high().qos = "urgent";
    }
    SUBCASE("its own has, and would not count")
    {
        queue.own().qos = "few";
    }
    SUBCASE("it gives whole nodes")
    {
        queue.high().manner = "0 0 0";
    }
    SUBCASE("its own jobs are preempted")
    {
        queue.own().preemptable = true;
    }
    SUBCASE("the other's are")
    {
        queue.high().preemptable = true;
    }
    SUBCASE("it could preempt more than before")
    {
        queue.all.push_back(partition("middle", 50));
        queue.all.back().preemptable = true;
    }
    SUBCASE("it is not for users")
    {
        queue.high().restricted = true;
    }
    SUBCASE("it starts no jobs")
    {
        queue.high().up = false;
    }

    CHECK(queue.answer() == "");
}

TEST_CASE("what it could preempt before does not matter")
{
    Queue queue;
    queue.all.push_back(partition("low", 1));
    queue.all.back().preemptable = true;
    queue.all.push_back(partition("elsewhere", 50));
    queue.all.back().preemptable = true;
    queue.all.back().nodes = {"n2"};

    CHECK(queue.answer() == "high,own");
}

TEST_CASE("the partitions of lower tiers than those that wait are left out, "
          "higher ones are not")
{
    Queue queue;
    queue.all.push_back(partition("middle", 50));
    queue.all.push_back(partition("highest", 200));

    CHECK(queue.answer() == "high,highest,own");
    queue.uses.push_back(waiting({9, Sluid{9}}, "own,middle,highest"));
    CHECK(queue.answer() == "highest,own");
}

TEST_CASE("of several partitions of its own each must be like the other")
{
    Queue queue;
    queue.all.push_back(partition("second", 20));
    queue.ours().partitions = "second,own";
    CHECK(queue.answer() == "high,second,own");

    queue.all.back().billing = "CPU=2.0";
    CHECK(queue.answer() == "");
}

TEST_CASE("two that adopt do not keep each other from their node")
{
    Queue queue;
    queue.other() = waiting({8, Sluid{8}}, "own");
    queue.other().features = "k8s&k8s-node-n1";

    CHECK(behind_higher_tiers({adopter, {8, Sluid{8}}}, queue.uses, queue.all)
              .empty());
}

TEST_CASE("a Pod is told in which partitions its job may start")
{
    CHECK(
        widened_message({adopter, "high,own", 0}) ==
        "Jobs of a higher PriorityTier wait for the node of this Pod: its job "
        "7 may start in partition high,own now.");
}
