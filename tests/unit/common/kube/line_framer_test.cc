// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/line_framer.h"

#include <doctest/doctest.h>
#include <vector>

using namespace bridge;

TEST_CASE("any cut of a text gives the same lines")
{
    const std::string text = "a\nbc\r\n\n\r\ndef\nrest";
    const std::vector<std::string> expected = {"a", "bc", "def"};
    for (std::size_t cut = 0; cut <= text.size(); cut++) {
        CAPTURE(cut);
        std::vector<std::string> lines;
        auto on_line = [&](std::string_view line) -> Result<> {
            lines.emplace_back(line);
            return {};
        };
        LineFramer framer(16);

        CHECK(framer.feed(text.substr(0, cut), on_line).has_value());
        CHECK(framer.feed(text.substr(cut), on_line).has_value());

        CHECK(lines == expected);
        CHECK(framer.rest() == "rest");
    }
}

TEST_CASE("a line without end is refused before it fills the memory")
{
    auto ignore = [](std::string_view) -> Result<> { return {}; };
    LineFramer framer(8);

    CHECK(framer.feed("1234\n12345678\n1234", ignore).has_value());
    auto more = framer.feed("56789", ignore);

    REQUIRE(!more.has_value());
    CHECK(more.error().code == Code::internal);
    framer.clear();
    CHECK(framer.feed("56789", ignore).has_value());
}

TEST_CASE("an error of the reader ends the piece")
{
    int seen = 0;
    auto refuse = [&](std::string_view) -> Result<> {
        seen++;
        return fail(Code::gone, "no");
    };
    LineFramer framer(8);

    CHECK(!framer.feed("a\nb\nc\n", refuse).has_value());
    CHECK(seen == 1);
}
