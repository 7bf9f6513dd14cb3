// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/gang_turns.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

using Uids = std::vector<std::string>;

// The namespace is the first letter.
void add(GangTurns &turns, const Uids &waiting, const Uids &placed = {})
{
    for (const std::string &uid : placed)
        turns.add(uid.substr(0, 1), uid, true);
    for (const std::string &uid : waiting)
        turns.add(uid.substr(0, 1), uid, false);
}

// Those that have their turn if that is enough for so many: "a1 b1".
std::string turn(GangTurns &turns, int many)
{
    std::string had;
    while (many-- > 0)
        if (auto uid = turns.next())
            had += (had.empty() ? "" : " ") + *uid;
    return had;
}

} // namespace

TEST_CASE("namespaces take turns in being decided, and so do their gangs")
{
    GangTurns turns;
    const Uids all{"a1", "a2", "a3", "b1", "c1", "c2"};
    add(turns, all);
    CHECK(turn(turns, 9) == "a1 b1 c1 a2 c2 a3");
    CHECK(turns.empty());

    add(turns, all);
    CHECK(turn(turns, 2) == "b1 c1");
    CHECK_FALSE(turns.empty());
    add(turns, all); // again, before all of them had their turn
    CHECK(turn(turns, 2) == "a1 b1");
    CHECK(turn(turns, 9) == "c2 a2 c1 a3");
}

TEST_CASE("gangs that are woken all the time leave turns to the others")
{
    GangTurns turns;
    add(turns, {"a1", "a2", "a3"});
    CHECK(turn(turns, 1) == "a1");
    add(turns, {"a1"});
    CHECK(turn(turns, 1) == "a2");
    add(turns, {"a1", "a2", "b1"});
    CHECK(turn(turns, 4) == "b1 a3 a1 a2");
}

TEST_CASE("gangs whose jobs have nodes come first in their namespace only")
{
    GangTurns turns;
    const Uids placed{"a8", "a9"};
    const Uids waiting{"a1", "a2", "b1", "b2"};
    add(turns, waiting, placed);
    CHECK(turn(turns, 9) == "a8 b1 a9 b2 a1 a2");

    add(turns, waiting, placed);
    CHECK(turn(turns, 3) == "b1 a8 b2");
    add(turns, {"a9"}); // its job has lost its nodes
    CHECK(turn(turns, 9) == "a1 a2 a9");
}

TEST_CASE("gangs with nodes do not keep all turns of their namespace")
{
    GangTurns turns;
    add(turns, {"a1", "a2"}, {"a5", "a6", "a7", "a8", "a9"});
    CHECK(turn(turns, 9) == "a5 a6 a7 a1 a8 a9 a2");
}
