// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/text.h"

#include <doctest/doctest.h>

using namespace bridge;

using Parts = std::vector<std::string_view>;

TEST_CASE("a text has one part more than separators")
{
    CHECK(all_parts("", ',') == Parts{""});
    CHECK(all_parts("a", ',') == Parts{"a"});
    CHECK(all_parts("a,b", ',') == Parts{"a", "b"});
    CHECK(all_parts(",a,,b,", ',') == Parts{"", "a", "", "b", ""});
}

TEST_CASE("the next part is taken off with its separator")
{
    std::string_view text = "a,,b";

    CHECK(next_part(text, ',') == "a");
    CHECK(next_part(text, ',') == "");
    CHECK(next_part(text, ',') == "b");
    CHECK(text.empty());
}
