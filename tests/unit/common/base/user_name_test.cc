// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/user_name.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a user has a name, or a number where nobody knows it")
{
    CHECK(user_name(0) == "root");
    CHECK(user_name(4000000001) == "4000000001");
}
