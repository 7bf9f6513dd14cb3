// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/capacity_gres.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// "DRIVER/NAME=GRES*UNIT …", or what is wrong.
std::string words(std::string_view text)
{
    auto list = parse_capacity_gres(text);
    if (!list)
        return list.error().message;
    std::string made;
    for (const CapacityGres &one : *list)
        made += (made.empty() ? "" : " ") + one.driver + "/" + one.name + "=" +
                one.gres + "*" + one.unit.text();
    return made;
}

} // namespace

TEST_CASE("capacities and counters are named with a GRES and its unit")
{
    CHECK(words("gpu.example.com/memory:gpumem:1Gi") ==
          "gpu.example.com/memory=gpumem*1Gi");
    CHECK(words("dra.cpu/cpu:dracpu , d/x_y.z : n-1 : 100m") ==
          "dra.cpu/cpu=dracpu*1 d/x_y.z=n-1*100m");
}

TEST_CASE("what names no capacity is refused with what it is")
{
    for (const char *bad : {"", "memory:gpumem", "d/memory", "d/memory:",
                            "d/:g", "/m:g", "d/m:g h", "d/a/b:g", "d/m:g:1:2",
                            "d/m:g,", "d/m:g:x", "d/m:g:0", "d/m:g:-1"})
        CHECK_MESSAGE(words(bad).starts_with("has \""), bad);
    CHECK(words("d/m:g:1Gi,d/m:h") == "names d/m twice");
    CHECK(words("dra.cpu/cpu:cpu") == "dra.cpu/cpu=cpu*1");
    CHECK(words("dra.cpu/cpu:cpu:2")
              .contains("unit of Slurm's own CPUs must be 1"));
    CHECK(words("d/m:shard").contains("which Slurm itself derives"));
    CHECK(words("d/m:mps").contains("which Slurm itself derives"));
}
