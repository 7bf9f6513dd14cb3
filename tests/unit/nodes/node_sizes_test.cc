// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/sizes.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

SlurmNode slurm_node(const std::string &name, std::uint32_t cpus,
                     const std::string &gres = {})
{
    SlurmNode node;
    node.name = name;
    node.cpus = cpus;
    node.memory = MebiBytes{1024};
    node.gres = gres;
    return node;
}

} // namespace

TEST_CASE("each size is there once by feature, with its first node, and all "
          "nodes for Pods under the empty one")
{
    SizeTable table;
    table.put(slurm_node("n1", 16));
    table.put(slurm_node("n2", 16));
    table.put(slurm_node("n3", 8));
    table.put(slurm_node("login", 64)); // not for Pods

    NodeSizes sizes = table.by_feature(
        {{"n1", {"any"}}, {"n2", {"any", "ssd"}}, {"n3", {"any"}}});

    REQUIRE(sizes["any"].size() == 2);
    CHECK(sizes["any"][0].node == "n1");
    CHECK(sizes["any"][1].node == "n3");
    REQUIRE(sizes["ssd"].size() == 1);
    CHECK(sizes["ssd"][0].node == "n2");
    CHECK(sizes[""].size() == 2);
}

TEST_CASE("a node that is created counts as it is created, a planned one that "
          "Slurm does not have not at all")
{
    SizeTable table;
    table.put(slurm_node("n1", 16));
    NodeDescription made;
    made.name = "n1";
    made.cpus = 32;
    made.memory = MebiBytes{2048};
    made.gres = "gpu:a100:2,gpu:h100:1";
    table.put(made);

    NodeSizes sizes = table.by_feature({{"n1", {"any"}}, {"n2", {"any"}}});

    REQUIRE(sizes["any"].size() == 1);
    CHECK(sizes["any"][0].cpus == 32);
    CHECK(sizes["any"][0].gres ==
          GresCounts{{"gpu", 3}, {"gpu:a100", 2}, {"gpu:h100", 1}});
}

TEST_CASE("GRES that an administrator wrote with a unit are not known")
{
    SizeTable table;
    table.put(slurm_node("n1", 16, "gpu:2(S:0-1),bandwidth:4G"));

    NodeSize size = table.by_feature({{"n1", {}}})[""].at(0);

    CHECK(size.gres.at("gpu") == 2);
    CHECK_FALSE(size.gres_known);
}
