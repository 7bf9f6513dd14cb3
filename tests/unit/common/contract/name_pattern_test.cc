// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/name_pattern.h"

#include "common/base/padded.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// %j is a number, and %x a text that has a pattern in it.
std::string expand(std::string_view pattern)
{
    return expand_pattern(
        pattern,
        [](char letter, std::size_t digits) -> std::optional<std::string> {
            if (letter == 'j')
                return padded(42, digits);
            if (letter == 'x')
                return "%j\\";
            return std::nullopt;
        });
}

} // namespace

TEST_CASE("patterns are walked as Slurm walks them")
{
    struct {
        const char *pattern;
        const char *name;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"%j", "42"},
        {"a%jb%jc", "a42b42c"},
        {"%1j", "42"},
        {"%4j", "0042"},
        {"%004j", "0042"},
        {"%0j", "42"},
        {"%10j", "0000000042"},
        {"%11j", "0000000042"},
        {"%99999999999999999999j", "0000000042"},
        {"%x", "%j\\"}, // what comes in is not walked again
        {"%q-%3q", "%q-%3q"},
        {"%%j", "%j"},
        {"%%%j", "%42"},
        {"%3%j", "%3%j"},
        {"%", ""},
        {"%%", "%"},
        {"a%", "a"},
        {"a%12", "a%12"},
        {"\\", ""},
        {"%j\\%%", "%j%%"},
    };
    for (auto [pattern, name] : rows) {
        CAPTURE(pattern);
        CHECK(expand(pattern) == name);
    }
}
