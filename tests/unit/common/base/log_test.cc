// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("a line is its level, its sentence and its pairs")
{
    CHECK(format_log_line(LogLevel::info, "bound",
                          {{"JobId", 812}, {"Pod", "default/web-0"}}) ==
          "level=info msg=\"bound\" JobId=812 Pod=default/web-0");
    CHECK(format_log_line(LogLevel::error, "stop", {}) ==
          "level=error msg=\"stop\"");
    CHECK(format_log_line(LogLevel::warning, "x", {{"err", ""}}) ==
          "level=warning msg=\"x\" err=\"\"");
}

TEST_CASE("a value is quoted where it could be read as something else")
{
    struct Row {
        std::string value;
        const char *text;
    };
    const Row rows[] = {
        {"plain-1.2/3:4,[5]", "plain-1.2/3:4,[5]"},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"say \"x\"", "\"say \\\"x\\\"\""},
        {"back\\slash", "\"back\\\\slash\""},
        {"a\nlevel=error msg=\"forged\"",
         "\"a\\x0alevel=error msg=\\\"forged\\\"\""},
        {"a\r\x1b[31m\x7f", "\"a\\x0d\\x1b[31m\\x7f\""},
        {std::string("a\0b", 3), "\"a\\x00b\""},
        {"\xc3\xa9", "\"\xc3\xa9\""},
    };
    for (const Row &row : rows) {
        CAPTURE(row.text);
        CHECK(format_log_line(LogLevel::debug, "m", {{"k", row.value}}) ==
              std::string("level=debug msg=\"m\" k=") + row.text);
    }
}

TEST_CASE("no value of any byte starts a new line or ends its quotes")
{
    std::string every;
    for (int c = 0; c < 256; c++)
        every += static_cast<char>(c);

    std::string line =
        format_log_line(LogLevel::info, every, {{"k", every}, {"end", 1}});

    for (char c : line)
        CHECK_FALSE((static_cast<unsigned char>(c) < ' ' || c == 0x7f));
    CHECK(line.ends_with("\" end=1"));
}

TEST_CASE("the level decides what is logged")
{
    LogLevel before = log_level();
    set_log_level(LogLevel::error);

    CHECK(log_level() == LogLevel::error);

    log_info("this must not be seen");
    log_debug("nor this");
    set_log_level(before);
}
