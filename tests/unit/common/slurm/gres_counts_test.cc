// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/gres_counts.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("what is asked for is counted by GRES and by type")
{
    CHECK(asked_gres("").empty());
    CHECK(asked_gres("gres/gpu:2") == GresCounts{{"gpu", 2}});
    CHECK(asked_gres("gres:gpu") == GresCounts{{"gpu", 1}});
    CHECK(asked_gres("cpu=2,gres/gpu:a:1,gres/gpu:b:2,gres/nic:1") ==
          GresCounts{{"gpu", 3}, {"gpu:a", 1}, {"gpu:b", 2}, {"nic", 1}});
}

TEST_CASE("how many tasks the GRES of a node suffice for")
{
    std::vector<JobGres> has{{"gpu", "a", 4, {0, 1, 2, 3}},
                             {"gpu", "b", 2, {4, 5}},
                             {"nic", "", 1, {0}}};
    auto tasks = [&](const char *asked) {
        return tasks_covered(has, asked_gres(asked));
    };
    CHECK(tasks("gres/gpu:2") == 3);
    CHECK(tasks("gres/gpu:a:2") == 2);
    CHECK(tasks("gres/gpu:a:1,gres/gpu:b:1") == 2);
    CHECK(tasks("gres/gpu:1,gres/nic:1") == 1);
    CHECK(tasks("gres/fpga:1") == 0);
    CHECK(tasks("") == no_task_limit);
}
