// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/shadow_partitions.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Partition partition(const std::string &name, std::uint16_t tier,
                    const std::string &node = "n1")
{
    Partition one;
    one.name = name;
    one.nodes = {"n0", node};
    one.up = true;
    one.tier = tier;
    return one;
}

} // namespace

TEST_CASE("what is free is taken in the highest tier of the node, what waits "
          "does so in the lowest")
{
    std::vector<Partition> all{
        partition("low", 1), partition("high", 9), partition("also-high", 9),
        partition("elsewhere", 20, "n2"), partition("below", 0, "n2")};

    CHECK(shadow_partitions("n1", ShadowTier::highest, all) ==
          "high,also-high");
    CHECK(shadow_partitions("n1", ShadowTier::lowest, all) == "low");
}

TEST_CASE("partitions that start no jobs do not count")
{
    std::vector<Partition> all{partition("low", 1), partition("high", 9),
                               partition("middle", 5)};
    all[0].up = all[1].up = false;

    for (ShadowTier tier : {ShadowTier::highest, ShadowTier::lowest})
        CHECK(shadow_partitions("n1", tier, all) == "middle");
    all[2].up = false;
    auto none = shadow_partitions("n1", ShadowTier::highest, all);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == Code::rejected);
    CHECK(none.error().message.contains("n1"));
}
