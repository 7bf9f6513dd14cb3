// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/tres_memory.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a job's memory is read as slurmctld prints it")
{
    struct {
        const char *tres;
        std::uint64_t mib;
    } rows[] = {
        {"cpu=2,mem=200M,node=1,billing=2", 200},
        {"mem=2.50G", 2560},
        {"cpu=1,mem=62.50G", 64000},
        {"cpu=1,mem=187.50G,node=1", 192000},
        {"mem=1.50T", 1572864},
        {"mem=2P", 2ull << 30},
        {"mem=7", 7},
        {"cpu=1,mem=0,node=1", 0},
        {"cpu=2,node=1,gres/gpumem=8G", 0},
        {"", 0},
    };
    for (auto [tres, mib] : rows) {
        CAPTURE(tres);
        CHECK(tres_memory(tres) == MebiBytes{mib});
    }
}

TEST_CASE("memory that is not understood is never taken for none")
{
    for (const char *tres :
         {"mem=", "mem=x", "mem=2Q", "mem=2GB", "mem=-1M", "mem=inf", "mem=nan",
          "mem=1e9P", "mem=2.50.1G", "mem=9999999999P"}) {
        CAPTURE(tres);
        auto memory = tres_memory(tres);
        REQUIRE_FALSE(memory);
        CHECK(memory.error().code == Code::internal);
    }
}
