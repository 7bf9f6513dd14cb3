// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/array.h"

#include <ctime>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

std::string numbers(std::string_view array)
{
    std::string text;
    for (const std::string &one : array_variables({5, 3}, array))
        if (one.starts_with("SLURM_ARRAY_TASK_") &&
            !one.starts_with("SLURM_ARRAY_TASK_ID"))
            text += (text.empty() ? "" : " ") + one.substr(17);
    return text;
}

} // namespace

TEST_CASE("a task is told its array and its index")
{
    auto all = array_variables({4711, 3}, "0-9");

    CHECK(all.front() == "SLURM_ARRAY_JOB_ID=4711");
    CHECK(all.at(1) == "SLURM_ARRAY_TASK_ID=3");
}

TEST_CASE("the numbers of an array are slurmctld's")
{
    struct {
        const char *array;
        const char *numbers;
    } rows[] = {
        {"3", "COUNT=1 MIN=3 MAX=3 STEP=1"},
        {"0-9", "COUNT=10 MIN=0 MAX=9 STEP=1"},
        {"1-10:3%2", "COUNT=4 MIN=1 MAX=10 STEP=3"},
        {"1-10:4", "COUNT=3 MIN=1 MAX=9 STEP=4"},
        {"7,1-3,2", "COUNT=4 MIN=1 MAX=7 STEP=1"},
        {"1-3%2,9", "COUNT=4 MIN=1 MAX=9 STEP=1"},
        {"[1-3,5]%1", "COUNT=4 MIN=1 MAX=5 STEP=1"},
        {"4,0-6:2,10-20:5", "COUNT=7 MIN=0 MAX=20 STEP=2"},
        {"1,,2", "COUNT=2 MIN=1 MAX=2 STEP=1"},
        {"0-4000000", "COUNT=4000001 MIN=0 MAX=4000000 STEP=1"},
        {"60-70", "COUNT=11 MIN=60 MAX=70 STEP=1"}, // words of 64 bits
        {"63-64,127,128-255,200-192", ""},
        {"63-64,127,128-255,191-192", "COUNT=131 MIN=63 MAX=255 STEP=1"},
        {"64-127", "COUNT=64 MIN=64 MAX=127 STEP=1"},
        {"0-130:65", "COUNT=3 MIN=0 MAX=130 STEP=65"},
    };
    for (auto [array, said] : rows) {
        CAPTURE(array);
        CHECK(numbers(array) == said);
    }
}

TEST_CASE("the largest array costs each of its tasks little")
{
    auto begun = std::clock();

    for (int i = 0; i < 60; i++)
        CHECK(numbers("[0-4000000,71-4000000]") ==
              "COUNT=4000001 MIN=0 MAX=4000000 STEP=1");

    CHECK(double(std::clock() - begun) / CLOCKS_PER_SEC < 1);
}

TEST_CASE("what slurmctld would not have taken says no numbers")
{
    for (const char *array :
         {"", ",", "%3", "x", "1-x", "3-1", "1-9:0", "1-9:x", "-1", "0-4000001",
          "99999999999", "1 2"}) {
        CAPTURE(array);
        CHECK(numbers(array).empty());
    }
}
