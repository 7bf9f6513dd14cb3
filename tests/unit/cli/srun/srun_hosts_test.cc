// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/host_names.h"
#include "cli/srun/hosts_file.h"

#include <doctest/doctest.h>

using namespace bridge;

using Names = std::vector<std::string>;
using Counts = std::vector<std::uint32_t>;

TEST_CASE("the file of the job's Pods is read in any order")
{
    auto hosts = parse_hosts_file("1 n2 10.0.0.2\n0 n1 fd00::1\n", 2);

    REQUIRE(hosts.has_value());
    CHECK((*hosts)[0] == StepHost{"n1", "fd00::1"});
    CHECK((*hosts)[1] == StepHost{"n2", "10.0.0.2"});
}

TEST_CASE("a file that is not full yet is waited for")
{
    for (const char *text : {"", "\n", "0 n1 10.0.0.1\n", "1 n2 10.0.0.2"}) {
        auto hosts = parse_hosts_file(text, 2);
        REQUIRE_FALSE(hosts.has_value());
        CHECK(hosts.error().code == Code::not_found);
    }
}

TEST_CASE("a file that is none of ours is refused with its line")
{
    for (const char *bad :
         {"0 n1", "x n1 10.0.0.1", "0 n1 10.0.0.1 ", "0 n1 10.0.0",
          "0  10.0.0.1", "-1 n1 10.0.0.1", "0 n;1 10.0.0.1",
          "4294967295 n1 10.0.0.1", "0 n1 10.0.0.1\n0 n2 10.0.0.1"}) {
        auto hosts = parse_hosts_file(bad, 1);
        INFO(bad);
        REQUIRE_FALSE(hosts.has_value());
        CHECK(hosts.error().code == Code::rejected);
        CHECK(hosts.error().message.starts_with("line "));
    }
}

TEST_CASE("host lists are Slurm's")
{
    struct Row {
        const char *list;
        Names names;
    };
    for (const Row &row :
         std::vector<Row>{{"n1", {"n1"}},
                          {"n[1-3]", {"n1", "n2", "n3"}},
                          {"n[08-10]", {"n08", "n09", "n10"}},
                          {"n[1,3-4],m", {"n1", "n3", "n4", "m"}},
                          {"a[1-2]-ib,a1-ib", {"a1-ib", "a2-ib"}},
                          {"", {}}}) {
        INFO(row.list);
        auto names = expand_hosts(row.list);
        REQUIRE(names.has_value());
        CHECK(*names == row.names);
    }
    for (const char *bad : {"n[", "n]1[", "n[3-1]", "n[a]", "n[]", "n[1][2]",
                            "n[0-99999]", "a,,b", "n[4294967295]"}) {
        INFO(bad);
        CHECK_FALSE(expand_hosts(bad).has_value());
    }
}

TEST_CASE("names become the shortest list that keeps their order")
{
    CHECK(compress_hosts({"n1", "n2", "n3"}) == "n[1-3]");
    CHECK(compress_hosts({"n9", "n10"}) == "n[9-10]");
    CHECK(compress_hosts({"n09", "n10", "n12"}) == "n[09-10,12]");
    CHECK(compress_hosts({"n2", "n1"}) == "n[2,1]");
    CHECK(compress_hosts({"n1", "m1", "login"}) == "n1,m1,login");
    CHECK(compress_hosts({"n5"}) == "n5");
    CHECK(compress_hosts({}) == "");
    for (Names names : std::vector<Names>{{"n1", "n01", "n2"}, {"n08", "n9"}})
        CHECK(*expand_hosts(compress_hosts(names)) == names);
}

TEST_CASE("counts for nodes are written and read as Slurm does")
{
    CHECK(compress_counts({2, 2, 2, 1}) == "2(x3),1");
    CHECK(expand_counts("2(x3),1") == Counts{2, 2, 2, 1});
    CHECK(expand_counts("16") == Counts{16});
    for (const char *bad : {"", "x", "2(x", "2(x0)", "2(3)", "2(x99999999)"})
        CHECK(expand_counts(bad).empty());
    CHECK(compress_numbers({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
    CHECK(compress_numbers({}) == "");
}
