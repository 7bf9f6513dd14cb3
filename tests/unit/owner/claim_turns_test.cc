// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/claim_turns.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

// Those that have their turn if that is enough for so many: "a1 b1".
std::string turn(ClaimTurns &turns, const ClaimTurns::Gangs &gangs, int many)
{
    std::string had;
    for (const ClaimTurns::Turn &one : turns.order(gangs)) {
        if (many-- == 0)
            break;
        turns.had(one);
        had += (had.empty() ? "" : " ") + one.uid;
    }
    return had;
}

} // namespace

TEST_CASE("namespaces take turns in reading claims, and so do their gangs")
{
    ClaimTurns turns;
    const ClaimTurns::Gangs gangs{{"a", {{}, {"a1", "a2", "a3"}}},
                                  {"b", {{}, {"b1"}}},
                                  {"c", {{}, {"c1", "c2"}}}};

    CHECK(turn(turns, gangs, 9) == "a1 b1 c1 a2 c2 a3");
    CHECK(turn(turns, gangs, 2) == "b1 c1");
    CHECK(turn(turns, gangs, 2) == "a1 b1");
    CHECK(turn(turns, gangs, 2) == "c2 a2");
    CHECK(turn(turns, gangs, 4) == "b1 c1 a3 c2");
}

TEST_CASE("gangs that have gone leave the turns of the others as they are")
{
    ClaimTurns turns;
    CHECK(turn(turns, {{"a", {{}, {"a1", "a2"}}}, {"b", {{}, {"b1"}}}}, 1) ==
          "a1");
    CHECK(turn(turns, {{"b", {{}, {"b1"}}}}, 1) == "b1");
    CHECK(turn(turns, {{"b", {{}, {"b2"}}}, {"a", {{}, {"a2", "a3"}}}}, 3) ==
          "a2 b2 a3");
    CHECK(turn(turns, {}, 3) == "");
}

TEST_CASE("gangs whose jobs have nodes come first in their namespace only")
{
    ClaimTurns turns;
    const ClaimTurns::Gangs gangs{{"a", {{"a8", "a9"}, {"a1", "a2"}}},
                                  {"b", {{}, {"b1", "b2"}}}};

    CHECK(turn(turns, gangs, 9) == "a8 b1 a9 b2 a1 a2");
    CHECK(turn(turns, gangs, 3) == "b1 a8 b2");
    CHECK(turn(turns, {{"a", {{}, {"a1", "a2", "a3"}}}}, 1) == "a3");
}
