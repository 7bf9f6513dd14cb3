// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/semver.h"

#include <array>
#include <doctest/doctest.h>
#include <iterator>

using namespace bridge;

TEST_CASE("versions are in the order of semver.org")
{
    constexpr const char *in_order[] = {"0.0.1",
                                        "1.0.0-1",
                                        "1.0.0-2",
                                        "1.0.0-10",
                                        "1.0.0-alpha",
                                        "1.0.0-alpha.1",
                                        "1.0.0-alpha.beta",
                                        "1.0.0-beta",
                                        "1.0.0-beta.2",
                                        "1.0.0-beta.11",
                                        "1.0.0-rc.1",
                                        "1.0.0",
                                        "1.9.0",
                                        "1.10.0",
                                        "1.10.2",
                                        "18446744073709551615.0.0"};
    for (std::size_t i = 0; i < std::size(in_order); i++)
        for (std::size_t j = 0; j < std::size(in_order); j++) {
            auto a = Semver::parse(in_order[i]);
            auto b = Semver::parse(in_order[j]);
            CAPTURE(in_order[i]);
            CAPTURE(in_order[j]);
            REQUIRE(a.has_value());
            REQUIRE(b.has_value());
            CHECK((*a <=> *b) == (i <=> j));
        }
}

TEST_CASE("builds make no difference")
{
    CHECK(*Semver::parse("1.0.0+a") == *Semver::parse("1.0.0+b.01"));
    CHECK(*Semver::parse("1.0.0-x+a") != *Semver::parse("1.0.0+a"));
}

TEST_CASE("what is no version is none")
{
    for (const char *text :
         {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.02.3", "v1.2.3", "1.2.x",
          "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3+", "1.2.3-a.", " 1.2.3",
          "1.2.3-ä", "18446744073709551616.0.0", "-1.2.3", "1.2.3+a_b"}) {
        CAPTURE(text);
        CHECK(!Semver::parse(text));
    }
}
