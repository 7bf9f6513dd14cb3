// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/group_lookup.h"

#include <algorithm>
#include <cstdio>
#include <doctest/doctest.h>
#include <fstream>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

using namespace bridge;

TEST_CASE("the primary group of root is that of group 0")
{
    const struct group *group = getgrgid(0);
    REQUIRE(group);
    std::string name = group->gr_name;

    auto primary = look_up_primary_group(0);
    REQUIRE(primary);
    CHECK(*primary == name);
    auto members = look_up_members(name);
    REQUIRE(members);
    CHECK(std::ranges::contains(*members, 0U));
}

TEST_CASE("those whose primary group it is are in a group without a list")
{
    const struct group *group = getgrgid(0);
    REQUIRE(group);
    std::string name = group->gr_name;
    char path[] = "/tmp/passwdXXXXXX";
    int file = mkstemp(path);
    REQUIRE(file >= 0);
    close(file);
    std::ofstream(path) << "ann:x:4001:0::/:/bin/sh\n"
                           "ben:x:4002:100::/:/bin/sh\n"
                           "eve:x:4003:0:" +
                               std::string(100'000, 'e') +
                               ":/:/bin/sh\n"
                               "dan:x:4004:0::/:/bin/sh\n";

    auto members = look_up_members(name, path);
    std::remove(path);
    REQUIRE(members);
    CHECK(std::ranges::contains(*members, 4001U));
    CHECK_FALSE(std::ranges::contains(*members, 4002U));
    CHECK(std::ranges::contains(*members, 4003U));
    CHECK(std::ranges::contains(*members, 4004U));
}

TEST_CASE("a group that does not exist has nobody")
{
    auto members = look_up_members("no-such-group-of-anybody");
    REQUIRE(members);
    CHECK(members->empty());
    auto primary = look_up_primary_group(3'999'999'999U);
    REQUIRE(primary);
    CHECK(primary->empty());
}
