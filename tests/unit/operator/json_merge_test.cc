// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/json_merge.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

std::string merge(const std::string &ours, const std::string &theirs)
{
    auto one = Json::parse(ours);
    auto two = Json::parse(theirs);
    REQUIRE(one);
    REQUIRE(two);
    return merged(*one, *two);
}

} // namespace

TEST_CASE("what users give lies over what the operator gives")
{
    struct {
        const char *ours;
        const char *theirs;
        const char *merged;
    } const table[] = {
        {R"({"a":1,"b":2})", R"({"b":3,"c":4})", R"({"a":1,"b":3,"c":4})"},
        {R"({"a":{"b":1}})", R"({"a":{"c":2}})", R"({"a":{"b":1,"c":2}})"},
        {R"({"a":1})", R"({"a":null,"b":null})", R"({"a":1,"b":null})"},
        {R"({"a":1})", "null", R"({"a":1})"},
        {R"({"list":[1]})", R"({"list":[2]})", R"({"list":[2]})"},
        {R"({"args":["a"]})", R"({"args":["b"]})", R"({"args":["a","b"]})"},
        {R"({"args":["a"]})", R"({"args":[]})", R"({"args":["a"]})"},
        {R"({"args":["a"]})", R"({"args":"b"})", R"({"args":"b"})"},
        {R"({"env":[{"name":"A","value":"1"}]})",
         R"({"env":[{"name":"B"},{"name":"A","value":"2"}]})",
         R"({"env":[{"name":"A","value":"2"},{"name":"B"}]})"},
        {R"({"volumes":[{"name":"v","x":{}}]})", R"({"volumes":[{}]})",
         R"({"volumes":[{"name":"v","x":{}},{}]})"},
        {R"({"a":1})", R"({"q\"\\":0.50})", R"({"a":1,"q\"\\":0.5})"},
    };
    for (const auto &row : table)
        CHECK(merge(row.ours, row.theirs) == row.merged);
}

TEST_CASE("members are set and dropped by their exact names")
{
    JsonMembers members{{"a/b", "1"}, {"c", "2"}};
    put(members, "a/b", "3");
    put(members, "d", "4");
    drop(members, "c");
    CHECK(json_object(members) == R"({"a/b":3,"d":4})");
}
