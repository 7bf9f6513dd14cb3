// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/job_values.h"

#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

constexpr std::chrono::sys_seconds now{std::chrono::seconds(1'000'000)};

std::int64_t seconds_of(const char *text)
{
    auto moment = parse_moment(text, now);
    return moment ? moment->time_since_epoch().count() : -1;
}

} // namespace

TEST_CASE("moments are read in UTC, or counted from a given time")
{
    struct Row {
        const char *text;
        std::int64_t seconds;
    };
    const Row rows[] = {{"1970-01-02Z", 86400},
                        {"2026-12-24T18:00:00Z", 1798135200},
                        {"2026-12-24T18:00Z", 1798135200},
                        {"2028-02-29T23:59:59Z", 1835481599},
                        {"now", 1'000'000},
                        {"now+5", 1'000'005},
                        {"now+5seconds", 1'000'005},
                        {"now+1minute", 1'000'060},
                        {"now+2hours", 1'007'200},
                        {"now+1day", 1'086'400},
                        {"now+1weeks", 1'604'800}};
    for (const Row &row : rows) {
        CAPTURE(row.text);
        CHECK(seconds_of(row.text) == row.seconds);
    }
}

TEST_CASE("moments without a Z are in the time zone of this host")
{
    const char *before = std::getenv("TZ");
    std::string saved = before ? before : "";
    setenv("TZ", "XXX-3", 1); // three hours before UTC
    tzset();
    CHECK(seconds_of("2026-12-24T18:00:00") == 1798135200 - 3 * 3600);
    CHECK(seconds_of("1970-01-02") == 86400 - 3 * 3600);
    if (before)
        setenv("TZ", saved.c_str(), 1);
    else
        unsetenv("TZ");
    tzset();
}

TEST_CASE("what is no moment is refused")
{
    for (const char *text : {"",
                             "Z",
                             "tomorrow",
                             "18:00",
                             "2026-12-24T",
                             "2026-12-24TZ",
                             "2026-12-24T18",
                             "2026-12-24T24:00",
                             "2026-12-24T18:60",
                             "2026-12-24T18:00:60",
                             "2026-13-01",
                             "2026-02-29",
                             "2026-00-10",
                             "2026-1-1",
                             "26-01-01",
                             "1969-12-31",
                             "2026-12-24z",
                             "2026-12-24 18:00",
                             "2026-12-24T18:00:00+01:00",
                             "now-5",
                             "now+",
                             "now+-5",
                             "now5",
                             "now+5years",
                             "now+5 minutes",
                             " now",
                             "now ",
                             "now+9999999999",
                             "now+999999999weeks",
                             "now+5minutes5",
                             "NOW"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_moment(text, now));
    }
}

TEST_CASE("switches are a count, and perhaps the time to wait for them")
{
    using std::chrono::minutes;
    CHECK(parse_switches("1") == Switches{1, {}});
    CHECK(parse_switches("2@30") == Switches{2, minutes(30)});
    CHECK(parse_switches("2@1-0") == Switches{2, minutes(1440)});
    for (const char *text :
         {"", "0", "-1", "1@", "@5", "1@x", "1@5@5", "70000", "1 ", "0x1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_switches(text));
    }
}

TEST_CASE("numbers are decimal and within their limits")
{
    CHECK(parse_number("0", 0, 9) == 0);
    CHECK(parse_number("9", 0, 9) == 9);
    CHECK(parse_number("-9", -9, 9) == -9);
    CHECK(parse_number("+9", -9, 9) == 9);
    for (const char *text : {"", "10", "-1", "+1", "1x", "x", " 1", "1 ", "1.0",
                             "99999999999999999999"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_number(text, 0, 9));
    }
    CHECK_FALSE(parse_number("+-1", -9, 9));
    CHECK_FALSE(parse_number("-10", -9, 9));
}

TEST_CASE("names are of the characters that Slurm's have")
{
    for (const char *text : {"a", "gpu-long", "a,b,c", "A_1.b", "user@host"}) {
        CAPTURE(text);
        CHECK(is_name_list(text));
    }
    for (const char *text : {"", ",", "a,", ",a", "a b", "a\n", "a;b", "$(id)",
                             "a\"b", "a=b", "ä", "a/b", "*"}) {
        CAPTURE(text);
        CHECK_FALSE(is_name_list(text));
    }
    CHECK(is_name_list(std::string(1024, 'a')));
    CHECK_FALSE(is_name_list(std::string(1025, 'a')));
}

TEST_CASE("dependencies are on jobs by id, and never take over another's nodes")
{
    for (const char *text :
         {"afterok:123", "afterok:123:124", "afterany:1,afternotok:2",
          "afterok:1?afterok:2", "after:5+10", "after:5+10:6", "singleton",
          "afterok:7_3", "aftercorr:7_*", "singleton,afterok:9"}) {
        CAPTURE(text);
        CHECK(is_dependency(text));
    }
    for (const char *text :
         {"", "afterok", "afterok:", "afterok:0", "afterok:x", "expand:5",
          "afterok:1,expand:5", "afterok:1?expand:5", "AFTEROK:1",
          "afterok:1+5", "after:5+", "afterok:1,,afterok:2", "singleton:5",
          "afterok:1 ", "afterok:-1", "afterok:1_", "afterok:4294967296",
          "afterburstbuffer:1", "afterok:1?afterok:2,afterok:3"}) {
        CAPTURE(text);
        CHECK_FALSE(is_dependency(text));
    }
}

TEST_CASE("licenses and GRES are lists of names with counts")
{
    for (const char *text :
         {"foo", "foo:2", "foo@bar:3", "foo:1,bar:2", "foo:1|bar:2"}) {
        CAPTURE(text);
        CHECK(is_license_list(text));
    }
    for (const char *text : {"", "foo:", "foo:0", "foo:x", ":1", "foo:1,",
                             "foo bar", "foo:1|", "foo:-1", "foo;2"}) {
        CAPTURE(text);
        CHECK_FALSE(is_license_list(text));
    }
    for (const char *text : {"craynetwork", "net:2", "net:fast:2", "a:1,b:2"}) {
        CAPTURE(text);
        CHECK(is_gres_list(text));
    }
    for (const char *text : {"", "net:", ":2", "a:b:c:d", "net:2,",
                             "gres/gpu:1", "net 2", "net(S:0)", "a@b"}) {
        CAPTURE(text);
        CHECK_FALSE(is_gres_list(text));
    }
}

TEST_CASE("plain text has no control characters and Slurm's length")
{
    CHECK(is_plain_text("für Frau Müller: \"$(id)\""));
    CHECK(is_plain_text(std::string(1024, 'x')));
    CHECK_FALSE(is_plain_text(std::string(1025, 'x')));
    CHECK_FALSE(is_plain_text("a\nb"));
    CHECK_FALSE(is_plain_text("a\x1b[2Jb"));
    CHECK_FALSE(is_plain_text("a\xff"));
}
