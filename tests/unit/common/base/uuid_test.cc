// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/uuid.h"

#include <cstddef>
#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace bridge;

TEST_CASE("a UUID is of version 4, in lower case, and never the same")
{
    std::set<std::string> seen;
    for (int i = 0; i < 1000; i++) {
        std::string made = new_uuid();
        CAPTURE(made);
        REQUIRE(made.size() == 36);
        for (std::size_t at = 0; at < made.size(); at++) {
            bool dash = at == 8 || at == 13 || at == 18 || at == 23;
            CHECK((made[at] == '-') == dash);
            if (!dash)
                CHECK(std::string("0123456789abcdef").contains(made[at]));
        }
        CHECK(made[14] == '4');
        CHECK(std::string("89ab").contains(made[19]));
        CHECK(seen.insert(made).second);
    }
}
