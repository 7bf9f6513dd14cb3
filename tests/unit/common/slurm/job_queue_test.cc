// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job_queue.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("the tasks of an array are counted, and those that may run at once")
{
    CHECK(count_tasks("3") == 1);
    CHECK(count_tasks("1-5") == 5);
    CHECK(count_tasks("1-5,7,10-20:2") == 12);
    CHECK(count_tasks("0-999%5") == 5);
    CHECK(count_tasks("1-3%10") == 3);
    CHECK(count_tasks("0-999%5", 3) == 2);
    CHECK(count_tasks("0-999%5", 5) == 1); // slurmctld says whether it waits
    CHECK(count_tasks("1-3", 100) == 3);
    CHECK(count_tasks("1-3,5,...") == 4);
    CHECK(count_tasks("") == 1);
    CHECK(count_tasks("5-1") == 1);
    CHECK(count_tasks("0-4294967295,0-4294967295") == 1'000'000);
    CHECK(count_tasks("0-8:0") == 1);
}

TEST_CASE("the GRES of a node are counted by kind and by type")
{
    CHECK(node_gres("").empty());
    CHECK(node_gres("gpu:2") == GresCounts{{"gpu", 2}});
    CHECK(node_gres("gpu:a100:2(S:0,1),gpu:h100:1,nic:1(S:0)") ==
          GresCounts{{"gpu", 3}, {"gpu:a100", 2}, {"gpu:h100", 1}, {"nic", 1}});
    CHECK(node_gres("bandwidth:lustre:4K") ==
          GresCounts{{"bandwidth", 4096}, {"bandwidth:lustre", 4096}});
    CHECK(node_gres("gpu") == GresCounts{{"gpu", 1}});
    CHECK(node_gres("gpu:(null):3(IDX:0-2)") == GresCounts{{"gpu", 3}});
}

TEST_CASE("a constraint says which nodes may be a job's")
{
    const char *has = "w,big,ib";
    for (const char *good :
         {"", "w", "w&big", "w,ib", "x|big", "(x|w)&ib", "w&(x|big)", "[x|big]",
          "[x*1&w*2]", "big*2", "x*2&w*1", "x&y|w"})
        CHECK_MESSAGE(may_have_features(good, has), good);
    for (const char *bad :
         {"x", "w&x", "x|y", "(x|w)&y", "[x|y]", "w&(x|y)", "bi", "wbig"})
        CHECK_FALSE_MESSAGE(may_have_features(bad, has), bad);
    // What nobody understands slurmctld has accepted.
    CHECK(may_have_features("x&&", has));
    CHECK(may_have_features("((((((((((((((((((((((((((((x", has));
}
