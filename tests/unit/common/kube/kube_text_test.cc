// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/text.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("node names are DNS subdomains")
{
    for (std::string good :
         {"n", "n1", "a-b.c-d", "0", std::string(253, 'a').c_str()})
        CHECK_MESSAGE(is_object_name(good), good);
    for (std::string bad :
         {"", "Bad_Name/..", "N1", "-a", "a-", "a..b", ".a", "a.", "a_b", "a b",
          "a\n", "\xc3\xa4", std::string(254, 'a').c_str()})
        CHECK_MESSAGE(!is_object_name(bad), bad);
}

TEST_CASE("label values have 63 characters at most and no odd ends")
{
    for (std::string good : {"", "1", "A_b-c.9", std::string(63, 'x').c_str()})
        CHECK_MESSAGE(is_label_value(good), good);
    for (std::string bad : {"-", "a-", "_a", "a.", "a b", "a/b", "a\n", "\xff",
                            std::string(64, 'x').c_str()})
        CHECK_MESSAGE(!is_label_value(bad), bad);
}

TEST_CASE("keys are a name behind an optional DNS prefix")
{
    for (std::string good : {"a", "slurmk8s/sluid", "A_b.c",
                             "scheduler.slinky.slurm.net/slurm-jobid"})
        CHECK_MESSAGE(is_qualified_name(good), good);
    for (std::string bad :
         {"", "/", "/a", "a/", "a/b/c", "A/b", "a b", "a/-", "slurmk8s/x y"})
        CHECK_MESSAGE(!is_qualified_name(bad), bad);
}

TEST_CASE("a text is cut between two characters and cleaned")
{
    CHECK(clean_text("short", 10) == "short");
    CHECK(clean_text("abc", 2) == "ab");
    CHECK(clean_text("\xc3\xa4\xc3\xa4", 3) == "\xc3\xa4");
    CHECK(clean_text("\xc3\xa4", 1).empty());
    CHECK(clean_text("a\xff"
                     "b",
                     10) == "a?b");
    CHECK(clean_text("\xf0\x9f\x98\x80", 3).empty());
    std::string once = clean_text(std::string(2000, '\xff'), 1024);
    CHECK(once.size() == 1024);
    CHECK(clean_text(once, 1024) == once);
}

TEST_CASE("a MicroTime has exactly six digits, a Time has none")
{
    std::chrono::system_clock::time_point time =
        std::chrono::sys_days(std::chrono::year(2026) / 8 / 20) + 10h;

    CHECK(micro_time(time) == "2026-08-20T10:00:00.000000Z");
    CHECK(micro_time(time + 1234567ns) == "2026-08-20T10:00:00.001234Z");
    CHECK(micro_time(time + 999999999ns) == "2026-08-20T10:00:00.999999Z");
    CHECK(second_time(time + 1999ms) == "2026-08-20T10:00:01Z");
}
