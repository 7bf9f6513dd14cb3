// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/regex.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

bool matches(std::string_view pattern, std::string_view text)
{
    auto regex = Regex::compile(pattern);
    REQUIRE_MESSAGE(regex.has_value(), pattern);
    return regex->matches(text);
}

std::string refusal_reason(std::string_view pattern)
{
    auto regex = Regex::compile(pattern);
    return regex ? "accepted" : regex.error().message;
}

struct Row {
    const char *pattern;
    const char *text;
    bool matches;
};

} // namespace

// Each of these was tried on Go's regexp, which CEL's matches() is there.
TEST_CASE("patterns match as they do in Go")
{
    constexpr Row rows[] = {
        {"", "", true},
        {"", "abc", true},
        {"b", "abc", true},
        {"^b", "abc", false},
        {"c$", "abc", true},
        {"^abc$", "abc", true},
        {"^abc$", "abc\n", false},
        {"^.*a100.*$", "nvidia a100-sxm4", true},
        {"^(A|H)100$", "H100", true},
        {"^(A|H)100$", "B100", false},
        {"a|b|", "x", true},
        {"^(?:ab)+$", "ababab", true},
        {"^(?:ab)+$", "ababa", false},
        {"^(?P<x>ab)(?<y>c)$", "abc", true},
        {"^a{2}$", "aa", true},
        {"^a{2}$", "aaa", false},
        {"^a{2,}$", "aaaa", true},
        {"^a{0,1}b", "b", true},
        {"^a{2,3}$", "aaaa", false},
        {"^a{,3}$", "a{,3}", true},
        {"a{", "a{", true},
        {"^x*?y+?z??$", "xxyy", true},
        {"^[a-c]+$", "abcabc", true},
        {"^[^a-c]+$", "xyz\n", true},
        {"^[]a]+$", "]a", true},
        {"^[a-]+$", "a-", true},
        {"^[\\d.-]+$", "1.2-3", true},
        {"^[[:alpha:]_]+$", "ab_C", true},
        {"^[[:^digit:]]+$", "12", false},
        {"^\\w+\\s\\d+$", "gpu_1 42", true},
        {"^\\W\\S\\D$", "-xx", true},
        {"\\bgpu\\b", "a gpu here", true},
        {"\\bgpu\\b", "agpus", false},
        {"\\Bpu", "gpu", true},
        {"\\Aab\\z", "ab", true},
        {"^a.c$", "a\nc", false},
        {"(?s)^a.c$", "a\nc", true},
        {"(?i)^a100$", "A100", true},
        {"(?i:A)b", "aB", false},
        {"(?i)[k]", "\u212a", true},
        {"(?i)[^k]", "\u212a", false},
        {"(?i)a(?-i)b", "Ab", true},
        {"(?i)a(?-i)b", "AB", false},
        {"^é$", "é", true},
        {"^.$", "é", true},
        {"^[à-é]$", "é", true},
        {"\\x41\\x{42}", "AB", true},
        {"\\.\\*\\_\\-", ".*_-", true},
        {"\\t\\n", "\t\n", true},
        {"(a*)*b", "aaaac", false},
        {"(|a)+$", "aa", true},
        {"^(a?){3}$", "aa", true},
        {"()", "x", true},
        {"\\\\C", "\\C", true},
        {"(?i)É", "é", true},
        {"^\\pL+$", "gpué", true},
        {"(?m)^b", "a\nb", true},
    };
    for (const auto &[pattern, text, expected] : rows) {
        CAPTURE(pattern);
        CAPTURE(text);
        CHECK(matches(pattern, text) == expected);
    }
}

TEST_CASE("what is no expression is refused with its reason")
{
    CHECK(refusal_reason("a(?=b)") ==
          "regular expression: invalid perl operator: (?=");
    for (const char *pattern :
         {"\\C", "\\\\\\C", "a(?<=b)", "(a)\\1", "a**", "a{2}{3}", "*",
          "a{1001}", "a{3,2}", "(a", "a)", "[a", "[b-a]", "[[:what:]]", "\\"}) {
        CAPTURE(pattern);
        CHECK(refusal_reason(pattern).starts_with("regular expression: "));
    }
}

TEST_CASE("a hostile pattern is refused, or ends soon")
{
    CHECK(refusal_reason(std::string(5000, '(')) != "accepted");
    CHECK(refusal_reason("((a{100}){100}){100}") != "accepted");
    CHECK(refusal_reason("(((){1000}){1000}){1000}") != "accepted");
    CHECK(refusal_reason("(x{40}\\pL{20}){5}").contains("too large"));

    std::string text(64, 'a');
    CHECK(!matches("^(a|a)*$", text + "b"));
    CHECK(!matches("^(a*)*(a*)*(a*)*$", text + "b"));
    CHECK(matches("^(a?){64}a{64}$", text));
}

TEST_CASE("a byte that belongs to no character matches nothing")
{
    CHECK(!matches("^.$", "\xff"));
    CHECK(matches("a", "\xff\x61"));
}
