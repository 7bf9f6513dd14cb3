// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/priority_class.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a line names a PriorityClass and what it stands for")
{
    PriorityClasses classes;
    CHECK(add_priority_class(classes, "high qos=expedite nice=-100"));
    CHECK(add_priority_class(classes, "low  nice=500"));
    CHECK(add_priority_class(classes, "other\tqos=scavenge"));
    CHECK(classes == PriorityClasses{{"high", {"expedite", -100}},
                                     {"low", {"", 500}},
                                     {"other", {"scavenge", 0}}});
    CHECK_FALSE(add_priority_class(classes, "low nice=1"));
    CHECK(classes.at("low").nice == 500);
}

TEST_CASE("what says nothing, or something else, is refused")
{
    for (const char *text :
         {"", "high", "High nice=1", "high nice", "high nice=", "high qos=",
          "high nice=x", "high nice=1x", "high nice=2147483646",
          "high nice=-2147483646", "high nice=99999999999", "high speed=1",
          "high =1", "high nice=1 nonsense", "nice=1"}) {
        CAPTURE(text);
        PriorityClasses classes;
        auto added = add_priority_class(classes, text);
        REQUIRE_FALSE(added);
        CHECK(added.error().code == Code::rejected);
        CHECK(classes.empty());
    }
}
