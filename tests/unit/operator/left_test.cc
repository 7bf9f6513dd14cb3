// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/left.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

TEST_CASE("the objects of a list are named with their kind and namespace")
{
    auto list = Json::parse(R"({"items": [
        {"metadata": {"namespace": "a", "name": "x"}},
        {"metadata": {"namespace": "b", "name": "y"}}]})");
    REQUIRE(list);
    CHECK(names_in("NodeSet", *list) ==
          std::vector<std::string>{"NodeSet a/x", "NodeSet b/y"});
    CHECK(names_in("NodeSet", Json{}).empty());
}
