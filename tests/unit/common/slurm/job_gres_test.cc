// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job_gres.h"

#include <doctest/doctest.h>

using namespace bridge;
using List = std::vector<JobGres>;

TEST_CASE("a job's GRES on a node, with their indexes")
{
    struct {
        const char *text;
        List wanted;
    } cases[] = {
        {"", {}},
        {"gpu:1(IDX:3)", {{"gpu", "", 1, {3}}}},
        {"gpu:a100:2(IDX:0-1)", {{"gpu", "a100", 2, {0, 1}}}},
        {"gpu:a100:3(IDX:0,2-3),gpu:h100:1(IDX:4)",
         {{"gpu", "a100", 3, {0, 2, 3}}, {"gpu", "h100", 1, {4}}}},
        {"gpu:a100:2(IDX:0-1),gpu:h100:0(IDX:)",
         {{"gpu", "a100", 2, {0, 1}}, {"gpu", "h100", 0, {}}}},
        {"license(CNT:3)", {{"license", "", 3, {}}}},
        {"craynetwork:fast(CNT:0),gpu:1(IDX:0)",
         {{"craynetwork", "fast", 0, {}}, {"gpu", "", 1, {0}}}},
        {"shard:a100:3(0/2,3/8)", {{"shard", "a100", 3, {}}}},
    };
    for (const auto &one : cases) {
        CAPTURE(one.text);
        auto read = parse_job_gres(one.text);
        REQUIRE(read);
        CHECK(*read == one.wanted);
    }
}

TEST_CASE("what is no list of a job's GRES is refused")
{
    for (const char *text :
         {"gpu", "gpu:2", "gpu:2(IDX:0-1", "gpu:x(IDX:0)", ":1(IDX:0)",
          "gpu:a:b:1(IDX:0)", "gpu:1(IDX:)", "gpu:1(IDX:a)", "gpu:2(IDX:1-0)",
          "gpu:1(IDX:70000)", "gpu:2(IDX:1,0)", "gpu:2(IDX:0,0)",
          "gpu:1(IDX:0),", "gpu:1(IDX:0)gpu:1(IDX:1)", "gpu(CNT:)",
          "gpu:1(IDX:0-4294967295)", "gpu:-1(CNT:-1)"}) {
        CAPTURE(text);
        auto read = parse_job_gres(text);
        REQUIRE_FALSE(read);
        CHECK(read.error().code == Code::rejected);
    }
}

TEST_CASE("indexes that slurmctld has cut short are not believed")
{
    CHECK_FALSE(parse_job_gres("gpu:3(IDX:0-1)"));
    CHECK_FALSE(parse_job_gres("gpu:1(IDX:0-1)"));
}
