// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/display_width.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("a text takes the columns that a terminal gives it")
{
    CHECK(display_width("") == 0);
    CHECK(display_width("fan fails") == 9);
    CHECK(display_width("Lüfter") == 6);
    CHECK(display_width("Lu\u0308fter") == 6); // a letter and a mark
    CHECK(display_width("風扇") == 4);
    CHECK(display_width("\U0001f525") == 2);
    CHECK(display_width("\u200b") == 0);
}

TEST_CASE("a text is cut by columns, never within a character")
{
    CHECK(cut_to_width("fan", 3) == "fan");
    CHECK(cut_to_width("fans", 3) == "fa+");
    CHECK(cut_to_width("fans", 1) == "+");
    CHECK(cut_to_width("fans", 0).empty());
    CHECK(cut_to_width("風扇", 4) == "風扇");
    CHECK(cut_to_width("風扇", 3) == "風+");
    CHECK(cut_to_width("風扇", 2) == "+");
    CHECK(cut_to_width("Lüfter", 3) == "Lü+");
    CHECK(cut_to_width("e\u0301e\u0301", 1) == "+");
    CHECK(cut_to_width("e\u0301", 1) == "e\u0301");
}

TEST_CASE("a character has two marks at most, so that a line has few bytes")
{
    std::string many = "e";
    for (int i = 0; i < 1000; i++)
        many += "\u0301";

    CHECK(cut_to_width(many, 5) == "e\u0301\u0301");
}

TEST_CASE("a cell has exactly its columns")
{
    CHECK(padded_right("a", 3) == "a  ");
    CHECK(padded_left("a", 3) == "  a");
    CHECK(padded_right("風扇", 3) == "風+");
    CHECK(padded_right("風扇扇", 4) == "風+ ");
    CHECK(padded_left("風扇扇", 4) == " 風+");
}
