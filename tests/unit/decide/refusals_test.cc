// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/refusals.h"

#include <doctest/doctest.h>

using namespace bridge;
using Uids = std::vector<std::string>;

TEST_CASE("the more of a namespace are refused, the longer each pauses")
{
    Refusals refusals;
    CHECK(refusals.pause("a") == Refusals::Duration(0));
    for (int i = 0; i < 1000; i++)
        refusals.add(std::to_string(i), "a", "no");
    CHECK(refusals.pause("a") == 1000 * Refusals::spacing);
    CHECK(refusals.pause("b") == Refusals::Duration(0));

    refusals.add("7", "a", "another reason"); // it counts once
    CHECK(refusals.pause("a") == 1000 * Refusals::spacing);
    for (int i = 0; i < 999; i++)
        refusals.remove(std::to_string(i));
    refusals.remove("nobody");
    CHECK(refusals.pause("a") == Refusals::spacing);
    refusals.remove("999");
    CHECK(refusals.pause("a") == Refusals::Duration(0));
}

TEST_CASE("a success is the sign for those that were refused in the same words")
{
    Refusals refusals;
    refusals.add("1", "a", "no account");
    refusals.add("2", "a", "no account");
    refusals.add("3", "a", "no partition");
    refusals.add("4", "b", "no account");

    CHECK(refusals.accept("1") == Uids{"2"});
    CHECK(refusals.accept("1") == Uids{});
    CHECK(refusals.accept("2") == Uids{}); // they were told
    refusals.add("2", "a", "no account");
    refusals.add("5", "a", "no account");
    CHECK(refusals.accept("5") == Uids{"2"});
    CHECK(refusals.accept("3") == Uids{});
    CHECK(refusals.accept("4") == Uids{});
    CHECK(refusals.pause("a") == Refusals::Duration(0));
    CHECK(refusals.pause("b") == Refusals::Duration(0));
}

TEST_CASE("of all that are to be tried again a few are at once, others in turn")
{
    CHECK(Refusals::turn(0) == Refusals::Duration(0));
    CHECK(Refusals::turn(Refusals::at_once - 1) == Refusals::Duration(0));
    CHECK(Refusals::turn(Refusals::at_once) == Refusals::spacing);
    CHECK(Refusals::turn(Refusals::at_once + 9) == 10 * Refusals::spacing);
}
