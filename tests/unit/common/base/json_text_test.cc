// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/json_text.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a part of a document comes as it is written")
{
    constexpr std::string_view document =
        R"( {"a" : [1.10, {"b":"x\"]}","c":{"d":[1e999 ,2], "e":"\u003c"}} ],)"
        R"("f":"","g":{},"h":[],"i":-0} )";

    CHECK(json_text(document, "a/0") == "1.10");
    CHECK(json_text(document, "a/1/b") == R"("x\"]}")");
    CHECK(json_text(document, "a/1/c") == R"({"d":[1e999 ,2], "e":"\u003c"})");
    CHECK(json_text(document, "a/1/c/d/0") == "1e999");
    CHECK(json_text(document, "f") == "\"\"");
    CHECK(json_text(document, "g") == "{}");
    CHECK(json_text(document, "h") == "[]");
    CHECK(json_text(document, "i") == "-0");
    CHECK(json_text("7", "") == "7");
}

TEST_CASE("what is not there is nothing")
{
    constexpr std::string_view document = R"({"a":[1,{"b":2}],"c":{},"d":[]})";

    for (const char *path :
         {"x", "a/2", "a/x", "a/-1", "a/0/b", "a/1/c", "c/x", "d/0", "a//b"}) {
        CAPTURE(path);
        CHECK_FALSE(json_text(document, path));
    }
}

TEST_CASE("a name with an escape hides what is behind it")
{
    constexpr std::string_view document = R"({"a":1,"\u0062":2,"b":3})";

    CHECK(json_text(document, "a") == "1");
    CHECK_FALSE(json_text(document, "b"));
}

TEST_CASE("a text that is no document ends in nothing or in a part of it")
{
    for (const char *document :
         {"", "{", "[", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":[1", "}",
          "{\"a\":\"\\", "[}", "{\"a\" 1}", "{,}", "[,"}) {
        CAPTURE(document);
        CHECK_FALSE(json_text(document, "a"));
        (void)json_text(document, "0");
        (void)json_text(document, "");
    }
}

TEST_CASE("a member is put into an object whose rest stays as it is written")
{
    CHECK(json_with(R"({"a": 1.10,"b":[2],"c":3})", "b", "{}") ==
          R"({"a": 1.10,"b":{},"c":3})");
    CHECK(json_with(R"({"a":1} )", "b", "2") == R"({"a":1,"b":2})");
    CHECK(json_with("{ }", "b", "2") == R"({ "b":2})");
    CHECK(json_with("{}", "b", "2") == R"({"b":2})");
    for (const char *text : {"", "[]", "7", "{", R"({"\u0061":1})"}) {
        CAPTURE(text);
        CHECK(json_with(text, "b", "2") == "");
    }
}

TEST_CASE("texts are joined as they are")
{
    std::vector<std::string> none, two = {"1.10", R"({"a": 1})"};

    CHECK(json_array(none) == "[]");
    CHECK(json_array(two) == R"([1.10,{"a": 1}])");
    CHECK(json_object({}) == "{}");
    CHECK(json_object({{"a", "[ ]"}, {"b", ""}, {"c\"", "1"}}) ==
          R"({"a":[ ],"c\"":1})");
}
