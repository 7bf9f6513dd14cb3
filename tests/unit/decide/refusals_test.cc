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
    Refusals refusals;
    CHECK(refusals.turn(0) == Refusals::Duration(0));
    CHECK(refusals.turn(Refusals::at_once - 1) == Refusals::Duration(0));
    CHECK(refusals.turn(Refusals::at_once) == Refusals::spacing);
    CHECK(refusals.turn(Refusals::at_once + 9) == 10 * Refusals::spacing);
}

TEST_CASE("many namespaces with refused gangs are not tried more in sum")
{
    Refusals refusals;
    auto add = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; i++)
            refusals.add(std::to_string(i), "n" + std::to_string(i), "no");
    };
    add(Refusals::full_share);
    CHECK(refusals.pause("n0") == Refusals::spacing);
    add(10 * Refusals::full_share);
    CHECK(refusals.pause("n0") == 10 * Refusals::spacing);
    CHECK(refusals.turn(1) == Refusals::Duration(0));
    CHECK(refusals.turn(2) == 10 * Refusals::spacing);
    for (int i = 0; i < 100; i++)
        refusals.add("more" + std::to_string(i), "n0", "no");
    CHECK(refusals.pause("n0") == 101 * Refusals::spacing); // its own
    add(100 * Refusals::full_share);
    CHECK(refusals.turn(0) == Refusals::Duration(0));
    CHECK(refusals.turn(1) == 100 * Refusals::spacing);
}
