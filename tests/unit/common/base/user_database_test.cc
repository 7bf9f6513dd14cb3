// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/user_database.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a record of the user database has the room that it needs")
{
    std::vector<char> room;
    int asked = 0;
    auto of_size = [&](std::size_t needed) {
        return [&asked, needed](char *, std::size_t size) {
            asked++;
            return size < needed ? ERANGE : 0;
        };
    };

    CHECK(ask_user_database(room, of_size(1)) == 0);
    CHECK(asked == 1);
    CHECK(ask_user_database(room, of_size(5'000'000)) == 0);
    CHECK(room.size() >= 5'000'000);
    CHECK(ask_user_database(room, of_size(1'000'000'000)) == ERANGE);
    CHECK(asked < 20);
}

TEST_CASE("what systems answer for a user that is not there is no failure")
{
    CHECK(is_no_such_record(0));
    CHECK(is_no_such_record(ENOENT));
    CHECK_FALSE(is_no_such_record(EIO));
    CHECK_FALSE(is_no_such_record(ERANGE));
}
