// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/printable.h"

#include "common/base/json.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("what cannot move the cursor is printed as it is")
{
    for (const char *text : {"", "default/web-0", "größer als 5 %", "日本",
                             "\xf0\x9f\x90\xa7", "a\xc2\xa0z"})
        CHECK(printable(text) == text);
}

TEST_CASE("control characters become blanks")
{
    CHECK(printable("a\x1b[31mred") == "a [31mred");
    CHECK(printable("two\nlines\ttabs\r") == "two lines tabs ");
    CHECK(printable(std::string_view("nul\0nul", 7)) == "nul nul");
    CHECK(printable("del\x7f.") == "del .");
    CHECK(printable("csi\xc2\x9b"
                    "31m") == "csi 31m");
    CHECK(printable("turned\xe2\x80\xae.") == "turned .");
}

TEST_CASE("bytes that are no UTF-8 become question marks")
{
    struct {
        const char *text;
        const char *wanted;
    } rows[] = {
        {"\xff", "?"},
        {"a\x80z", "a?z"},
        {"\x9b"
         "31m",
         "?31m"},                // the 8-bit CSI itself
        {"\xc0\x9b", "??"},      // ESC, longer than it may be
        {"\xe0\x82\x9b", "???"}, // likewise
        {"\xed\xa0\x80", "???"}, // a surrogate
        {"\xf5\x80\x80\x80", "????"},
        {"cut\xe6\x97", "cut??"},
        {"\xe6", "?"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.wanted);
        CHECK(printable(row.text) == row.wanted);
    }
}

TEST_CASE("JSON means the same with its control characters escaped")
{
    std::string json = "{\"a\":\"x\xc2\x9by\x7f\xe2\x80\xae\\u001b\"}";

    std::string safe = printable_json(json);

    CHECK(safe == "{\"a\":\"x\\u009by\\u007f\\u202e\\u001b\"}");
    CHECK(Json::parse(safe)->text("a") == Json::parse(json)->text("a"));
}
