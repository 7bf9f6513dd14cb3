// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/json.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

Json parse(std::string_view text)
{
    auto json = Json::parse(text);
    REQUIRE(json);
    return *json;
}

} // namespace

TEST_CASE("a path leads through objects and arrays")
{
    Json json = parse(R"({"a":{"b":[{"c":"x"},{"c":7},[true]]},"":{"":"e"}})");

    CHECK(json.text("a/b/0/c") == "x");
    CHECK(json.integer("a/b/1/c") == 7);
    CHECK(json.flag("a/b/2/0"));
    CHECK(json.at("a").at("b").items().size() == 3);
    CHECK(json.items("a/b").size() == 3);
    CHECK(json.members("a").size() == 1);
    CHECK(json.members("a")[0].first == "b");
}

TEST_CASE("what is missing or of another type is an empty look-up")
{
    Json json = parse(R"({"a":[1],"s":"x","n":null,"d":1.5,"o":{}})");

    for (const char *path :
         {"x", "a/1", "a/-1", "a/x", "a/0x0", "a/ 0", "a/99999999999", "s/x",
          "s/0", "a/0/0", "n/x", "/", "a//0", "o/o/o"}) {
        CAPTURE(path);
        CHECK_FALSE(json.at(path).present());
        CHECK(json.text(path) == "");
        CHECK_FALSE(json.integer(path));
        CHECK_FALSE(json.flag(path));
        CHECK(json.items(path).empty());
        CHECK(json.members(path).empty());
        CHECK(json.texts(path).empty());
    }
    CHECK(json.text("a") == "");
    CHECK_FALSE(json.integer("s"));
    CHECK_FALSE(json.integer("d"));
    CHECK(json.members("a").empty());
    CHECK(json.items("o").empty());
    CHECK(json.at("n").present());
}

TEST_CASE("a Json without a value answers every question with nothing")
{
    Json none;

    CHECK_FALSE(none.present());
    CHECK_FALSE(none.is_object());
    CHECK_FALSE(none.is_array());
    CHECK_FALSE(none.at("a").present());
    CHECK_FALSE(none.member("a").present());
    CHECK(none.text() == "");
    CHECK(none.items().empty());
    CHECK(none.dump() == "null");
}

TEST_CASE("label keys, which hold a slash, are reached as members")
{
    Json json = parse(R"({"labels":{"a.b/c":"1","a.b":{"c":"2"},"n":3}})");

    CHECK(json.at("labels").member("a.b/c").text() == "1");
    CHECK(json.text("labels/a.b/c") == "2");
    CHECK(json.texts("labels") ==
          std::map<std::string, std::string>{{"a.b/c", "1"}});
    CHECK_FALSE(json.member("").present());
}

TEST_CASE("integers are whole numbers of 64 bits")
{
    Json json = parse("[9223372036854775807,-9223372036854775808,"
                      "9223372036854775808,1e3,1.0,\"1\",true,-0]");

    CHECK(json.integer("0") == INT64_MAX);
    CHECK(json.integer("1") == INT64_MIN);
    for (const char *path : {"2", "3", "4", "5", "6"}) {
        CAPTURE(path);
        CHECK_FALSE(json.integer(path));
    }
}

TEST_CASE("any number of digits with any exponent is read, or as null")
{
    auto dump = [](const std::string &text) {
        auto document = Json::parse(text);
        return document ? document->dump() : "error";
    };
    CHECK(dump("[0.1,1e2,-0.5]") == "[0.1,100.0,-0.5]");
    CHECK(dump("18446744073709551615") == "18446744073709551615");
    CHECK(dump("1e999") == "null");
    CHECK(dump("[-1E+400,1e300,{\"e\":0.1e99999999999,\"9e999\":true}]") ==
          "[null,null,{\"e\":null,\"9e999\":true}]");
    CHECK(dump("[1e999,\"a\\\"1e999\",7]") == "[null,\"a\\\"1e999\",7]");
    CHECK(dump("[" + std::string(400, '1') + ",2e3]") == "[null,2000.0]");
    CHECK(dump("[1e999,01]") == "error");
    CHECK(dump("[1e999,1-1]") == "error");
    CHECK(dump("1e999 x") == "error");
    for (const char *text :
         {"[1e999-]", "[1e9999.5]", "[1e999e1]", "[1e+]", "[1e999,.1]",
          "[1e999,1.]", "[1e999,-]", "[01e999]", "[--1e999]", "[1e999,00]"}) {
        CAPTURE(text);
        CHECK(dump(text) == "error");
    }
    CHECK(dump("1e-999") == "0.0");
    // Where RapidJSON's own conversion leaves its table of powers.
    std::string digits = "99999999099999999" + std::string(80, '6');
    CHECK(dump(digits + "e-430") != "error");
    CHECK(dump(digits + "e-390") != "error");
}

TEST_CASE("a part of a document outlives the document")
{
    Json part = parse(R"({"a":{"b":"kept"}})").at("a");

    CHECK(part.text("b") == "kept");
}

TEST_CASE("text that is not one JSON document is rejected with its place")
{
    const std::string rows[] = {
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "{\"a\":}",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "tru",
        "nul",
        "01",
        "1 2",
        "{}x",
        "{}{}",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"a\nb\"",
        "NaN",
        "Infinity",
        "// x",
        "[1e999-]",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf5\x80\x80\x80\"",
    };
    for (const std::string &row : rows) {
        CAPTURE(row);
        auto json = Json::parse(row);
        REQUIRE_FALSE(json);
        CHECK(json.error().code == Code::rejected);
        CHECK(json.error().message.starts_with("bad JSON at byte "));
    }
    CHECK_FALSE(Json::parse(std::string_view{}));
    CHECK_FALSE(Json::parse(std::string(1000000, '[')));
}

TEST_CASE("a million levels of nesting cost no stack")
{
    constexpr std::size_t levels = 1000000;
    std::string text(levels, '[');
    text.append(levels, ']');

    Json json = parse(text);

    CHECK(json.is_array());
    CHECK(json.at("0/0/0/0").is_array());

    std::string objects;
    for (int i = 0; i < 100000; i++)
        objects += "{\"a\":";
    objects += "1" + std::string(100000, '}');
    CHECK(parse(objects).at("a/a/a").is_object());
}

TEST_CASE("of a key given twice the first counts, and nothing breaks")
{
    Json json = parse(R"({"a":"1","a":"2"})");

    CHECK(json.text("a") == "1");
}

TEST_CASE("what is read is written again as it was")
{
    const char *text =
        R"({"z":1,"a":[null,true,false,-5,"x\"\\\n\u0001"],"o":{}})";

    CHECK(parse(text).dump() == text);
}

TEST_CASE("a value is written compactly, members in their order")
{
    JsonValue value = JsonValue::object(
        {{"z", 1},
         {"a", JsonValue::array({JsonValue(), true, std::int64_t{-5}, "x"})},
         {"u", std::uint32_t{4294967295}}});
    value.add("last", JsonValue::object(JsonValue::Object{}));

    CHECK(value.dump() ==
          R"({"z":1,"a":[null,true,-5,"x"],"u":4294967295,"last":{}})");
    CHECK(JsonValue().dump() == "null");
    CHECK(JsonValue(1).add("a", 1).dump() == "1");
}

TEST_CASE("control characters and quotes are escaped")
{
    JsonValue value(std::string("\"\\\n\t\0\x1f/", 7));

    std::string text = value.dump();

    CHECK(text == R"("\"\\\n\t\u0000\u001F/")");
    CHECK(parse(text).text() == std::string("\"\\\n\t\0\x1f/", 7));
}

TEST_CASE("bytes that are not UTF-8 are written as question marks")
{
    struct Row {
        std::string in;
        std::string out;
    };
    const Row rows[] = {
        {"\xff", "?"},
        {"a\xffz", "a?z"},
        {"\x80", "?"},
        {"\xc0\x80", "??"},           // an overlong NUL
        {"\xe0\x80\x80", "???"},      // overlong
        {"\xed\xa0\x80", "???"},      // a surrogate
        {"\xf4\x90\x80\x80", "????"}, // beyond Unicode
        {"\xf8\x88\x80\x80\x80", "?????"},
        {"\xc3", "?"}, // cut short
        {"\xe2\x82", "??"},
        {"\xf0\x9f\x98", "???"},
        {"\xc3(", "?("},
        {"\xc3\xa9", "\xc3\xa9"},
        {"\xe2\x82\xac", "\xe2\x82\xac"},
        {"\xed\x9f\xbf", "\xed\x9f\xbf"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    };
    for (const Row &row : rows) {
        CAPTURE(row.out);
        CHECK(parse(JsonValue(row.in).dump()).text() == row.out);
        auto named = JsonValue::object({{row.in, 1}});
        CHECK(parse(named.dump()).members()[0].first == row.out);
    }
}

TEST_CASE("every pair of bytes is written as JSON that can be read again")
{
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            std::string text = {static_cast<char>(first),
                                static_cast<char>(second)};
            auto json = Json::parse(JsonValue(text).dump());
            if (!json)
                FAIL("bytes " << first << " " << second);
        }
}

// Found by fuzzing: what was read could be written so that nobody read it.
TEST_CASE("an escaped half of a surrogate pair is written as UTF-8")
{
    auto json = Json::parse(R"({"k":"\udc27"})");
    REQUIRE(json.has_value());

    auto again = Json::parse(json->dump());

    REQUIRE(again.has_value());
    CHECK(again->dump() == json->dump());
}
