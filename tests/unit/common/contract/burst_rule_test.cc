// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/burst_rule.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a rule has two partitions, and prints as it was written")
{
    std::vector<BurstRule> rules;

    CHECK(add_burst_rule(rules, "main:burst"));
    CHECK(add_burst_rule(rules, "main:spot"));
    CHECK(add_burst_rule(rules, "spot:main"));

    CHECK(rules == std::vector<BurstRule>{
                       {"main", "burst"}, {"main", "spot"}, {"spot", "main"}});
    CHECK(rules[0].text() == "main:burst");
}

TEST_CASE("what is no rule, or is one again, is refused and adds nothing")
{
    std::vector<BurstRule> rules{{"main", "burst"}};

    for (const char *text :
         {"", ":", "main", "main:", ":burst", "main:burst:x", "a:b,c", "a,b:c",
          "main :burst", "main: burst", "main\t:x", "main:\"x\"", "main:x=y",
          "main:main", "main:burst"}) {
        CAPTURE(text);
        CHECK_FALSE(add_burst_rule(rules, text));
    }
    CHECK(rules.size() == 1);
}
