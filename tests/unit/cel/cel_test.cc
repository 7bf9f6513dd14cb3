// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/cel/device.h"

using namespace bridge;

namespace {

std::string refusal_reason(std::string_view text)
{
    auto selector = CelSelector::parse(text);
    return selector ? "accepted" : selector.error().message;
}

std::string failure(std::string_view text)
{
    auto selector = CelSelector::parse(text);
    REQUIRE(selector.has_value());
    auto matches = selector->matches(gpu());
    return matches ? "no failure" : matches.error().message;
}

struct Row {
    std::string text; // in which @ stands for the driver's attributes
    const char *verdict;
};

void check(std::initializer_list<Row> rows)
{
    constexpr std::string_view attributes =
        "device.attributes['gpu.example.com']";
    for (auto [text, expected] : rows) {
        for (std::size_t at = 0; (at = text.find('@', at)) != text.npos;)
            text.replace(at, 1, attributes);
        CAPTURE(text);
        CHECK(verdict(text) == expected);
    }
}

} // namespace

TEST_CASE("the selectors of the drivers in use are understood")
{
    check({
        {"device.driver == 'gpu.example.com'", "true"},
        {"device.driver == 'gpu.example.com' && @.model == 'A100'", "true"},
        {"@.model == 'A100' || @.model == 'H100'", "true"},
        {"@.model == 'H100'", "false"},
        {"@['model'] == \"A100\"", "true"},
        {"(@.index == 0)", "false"},
        {"@.productName.lowerAscii().matches('^.*a100.*$')", "true"},
        {"@.productName.lowerAscii().matches('^.*h100.*$')", "false"},
        {"device.capacity['gpu.example.com'].memory.compareTo(quantity('4Gi')) "
         ">= 0",
         "true"},
        {"device.capacity['gpu.example.com'].memory.isGreaterThan(quantity("
         "\"10Gi\"))",
         "true"},
        {"device.capacity['gpu.example.com'].memory.isLessThan(quantity("
         "\"10Gi\"))",
         "false"},
        {"device.attributes['resource.kubernetes.io'].numaNode == 0", "true"},
        {"device.capacity['other.example.com'].bandwidth == quantity('1G')",
         "true"},
        {"device.allowMultipleAllocations", "false"},
    });
}

// All verdicts in this file but "refused" were compared with those of
// kube-scheduler's own code, version 1.36.3.
TEST_CASE("types and errors mean what they mean to kube-scheduler")
{
    check({
        {"@.index == '2'", "false"},
        {"@.index < 3", "true"},
        {"@.index >= 2.0", "true"},
        {"@.index == 2.0", "true"},
        {"@.nosuch == 'x'", "error"},
        {"'nosuch.example.com' in device.attributes", "false"},
        {"'gpu.example.com' in device.attributes", "true"},
        {"device.attributes['nosuch.example.com'].x == 1", "error"},
        {"@.nosuch == 'x' || true", "true"},
        {"true || @.nosuch == 'x'", "true"},
        {"false && @.nosuch == 'x'", "false"},
        {"@.nosuch == 'x' && false", "false"},
        {"@.nosuch == 'x' || false", "error"},
        {"true && @.nosuch == 'x'", "error"},
        {"@.driverVersion == '1.10.2'", "error"},
        {"'1.10.2' == @.driverVersion", "false"},
        {"@.driverVersion != '1.10.2'", "true"},
        {"@.driverVersion.compareTo(semver('1.10.2')) == 0", "true"},
        {"@.driverVersion.isGreaterThan(semver('1.9.9'))", "true"},
        {"quantity('40960Mi') == device.capacity['gpu.example.com'].memory",
         "true"},
        {"@.model", "error"},
        {"@.index", "error"},
        {"@.healthy", "true"},
        {"@.model || true", "true"},
        {"!@.index", "error"},
    });
}

TEST_CASE("what may be missing can be asked for")
{
    check({
        {"has(@.model)", "true"},
        {"has(@.nosuch)", "false"},
        {"has(device.attributes['nosuch.example.com'].x)", "false"},
        {"has(device.attributes.nosuch)", "true"},
        {"'model' in @", "true"},
        {"'nosuch' in @", "false"},
        {"@.?model.orValue('') == 'A100'", "true"},
        {"@.?nosuch.orValue(7) == 7", "true"},
        {"@[?'nosuch'].hasValue()", "false"},
        {"@.?model.value() == 'A100'", "true"},
        {"@.?nosuch.value() == 'A100'", "error"},
        {"device.attributes.?nosuch.x.hasValue()", "false"},
        {"@.?model.orValue(@.nosuch) == 'A100'", "true"},
        {"@.?model", "error"},
        {"@.?nosuch == @.?nosuch", "true"},
    });
}

TEST_CASE("lists, macros and arithmetic of selectors")
{
    check({
        {"@.model in ['A100', 'H100']", "true"},
        {"@.model in []", "false"},
        {"@.nosuch in []", "false"},
        {"@.index in [0, 1]", "false"},
        {"[1, 2, 3,].exists(i, i == @.index)", "true"},
        {"[1, 2, 3].all(i, i < @.index)", "false"},
        {"[].all(i, false)", "true"},
        {"['x', 'model'].exists(k, @[k] == 'A100')", "true"},
        {"['x', 'model'].all(k, @[k] == 'A100')", "error"},
        {"@.exists(k, k == 'index')", "true"},
        {"device.attributes.exists(d, d == 'resource.kubernetes.io')", "true"},
        {"cel.bind(g, @, g.index == 2 && g.healthy)", "true"},
        {"cel.bind(g, @.nosuch, true)", "true"},
        {"cel.bind(device2, device, device2.driver.startsWith('gpu'))", "true"},
        {"[1, 2][1] == 2", "true"},
        {"[1, 2][2] == 2", "error"},
        {"[1, 2] + [3] == [1, 2, 3]", "true"},
        {"@.index + 1 == 3", "true"},
        {"@.index + 9223372036854775807 > 0", "error"},
        {"@.index + 1.0 == 3.0", "error"},
        {"'A' + '100' == @.model", "true"},
        {"-@.index == -2", "true"},
        {"-9223372036854775808 < 0x7f", "true"},
        {"@.index > 1 ? @.healthy : @.nosuch", "true"},
        {"@.nosuch ? true : false", "error"},
        {".5 < 1.5e0", "true"},
        {"'b' > 'a' && true > false", "true"},
        {"'b' > 1", "error"},
    });
}

TEST_CASE("strings are read as CEL has them")
{
    check({
        {"'a\\x41\\u00e9\\101\\n' == \"aAéA\\n\"", "true"},
        {"r'\\d' == '\\\\d'", "true"},
        {"'''a'b\nc''' == 'a\\'b\\nc'", "true"},
        {"'it' // a comment\n == 'it'", "true"},
        {"@.model.contains('10') && @.model.endsWith('00')", "true"},
        {"@.model.upperAscii() == 'A100'", "true"},
        {"matches(@.model, '[AB]1')", "true"},
        {"isQuantity('4Gi') && !isQuantity('four')", "true"},
        {"isSemver('1.2.3') && !isSemver('1.2')", "true"},
        {"quantity('four') == quantity('4')", "error"},
        {"semver('1.2') == semver('1.2')", "error"},
        {"@.index.contains('2')", "error"},
    });
}

TEST_CASE("what is outside of the subset is refused by name and place")
{
    CHECK(refusal_reason("device.driver.trim() == ''") ==
          "CEL: trim() is not supported at byte 15");
    CHECK(refusal_reason("true && {'a': 1}.a == 1") ==
          "CEL: '{' is not supported at byte 9");
    CHECK(refusal_reason("null == 1") ==
          "CEL: 'null' is not supported at byte 1");
    CHECK(refusal_reason("1u == 1") ==
          "CEL: an unsigned or bad number at byte 1");
    CHECK(refusal_reason("b'a' == 1") == "CEL: bytes at byte 1");
    CHECK(refusal_reason("node.name == 'a'") ==
          "CEL: the unknown name 'node' at byte 1");
    CHECK(refusal_reason("[1].exists(i, j == 1)") ==
          "CEL: the unknown name 'j' at byte 15");
    CHECK(refusal_reason("[1].map(i, i)[0] == 1") ==
          "CEL: map() is not supported at byte 5");
    CHECK(refusal_reason("has(device)") ==
          "CEL: has() with an argument other than a.b at byte 1");
    CHECK(refusal_reason("device.driver.startsWith()") ==
          "CEL: startsWith() with 0 arguments at byte 15");
    CHECK(refusal_reason("device.driver.matches('(?=a)')") ==
          "CEL: regular expression: invalid perl operator: (?= at byte 23");
    CHECK(refusal_reason("device.driver ==") ==
          "CEL: an unexpected end at byte 17");
    CHECK(refusal_reason("") == "CEL: an unexpected end at byte 1");
    CHECK(refusal_reason("true true") ==
          "CEL: 'true' is not expected at byte 6");
    CHECK(refusal_reason("'a") == "CEL: a string without its end at byte 1");
    CHECK(refusal_reason("'\\q'") == "CEL: a bad escape in a string at byte 2");
    CHECK(refusal_reason("99999999999999999999 > 1") ==
          "CEL: a number that is too large at byte 1");
    CHECK(refusal_reason("[1].exists(device, true)").contains("at byte 5"));
    CHECK(refusal_reason("\x01") ==
          "CEL: a character that is not expected at byte 1");
}

TEST_CASE("an error says which selector and why")
{
    CHECK(failure("device.attributes['gpu.example.com'].colour == 'red'") ==
          "selector \"device.attributes['gpu.example.com'].colour == 'red'\": "
          "no such key: colour");
    CHECK(failure("device.driver") ==
          "selector \"device.driver\": the result is not bool but string");
    CHECK(failure("device.driver < 1") ==
          "selector \"device.driver < 1\": no such overload: string < int");
}

TEST_CASE("no selector is asked about a device that is known in part only")
{
    Device device = gpu();
    device.attributes["new"] = std::monostate{};

    CHECK(verdict("true", device) == "error");
}

TEST_CASE("an attribute may be written with the driver's domain or without")
{
    Device device = gpu();
    device.attributes = {{"gpu.example.com/index", std::int64_t{7}}};

    CHECK(verdict("device.attributes['gpu.example.com'].index == 7", device) ==
          "true");
}

TEST_CASE("hostile selectors end soon")
{
    std::string deep(3000, '(');
    CHECK(refusal_reason(deep).contains(
        "an expression that is nested too deeply"));
    CHECK(refusal_reason(std::string(3000, '!') + "true")
              .contains("an expression that is nested too deeply"));
    CHECK(refusal_reason(std::string(3000, '['))
              .contains("an expression that is nested too deeply"));

    std::string members = "device";
    for (int i = 0; i < 3000; i++)
        members += ".a";
    CHECK(refusal_reason(members).contains(
        "an expression that is nested too deeply"));
    CHECK(refusal_reason(std::string(CelSelector::max_text + 1, ' '))
              .contains("more text than is allowed"));

    std::string wide = "true";
    for (int i = 0; i < 1000; i++)
        wide += "&& true";
    CHECK(verdict(wide) == "true");
}

TEST_CASE("what costs too much is an error, wherever it is")
{
    std::string list = "[0";
    for (int i = 0; i < 200; i++)
        list += ",0";
    list += "]";
    std::string product = list + ".all(a, " + list + ".all(b, " + list +
                          ".all(c, a == b && b == c)))";
    CHECK(failure(product).ends_with("too expensive to evaluate"));
    CHECK(failure("true || " + product) == "no failure");
    CHECK(failure(product + " || true").contains("too expensive to evaluate"));

    std::string doubled = "s";
    std::string text = "'aaaaaaaaaaaaaaaa'";
    for (int i = 0; i < 40; i++)
        text = "cel.bind(s, " + text + ", s + s)";
    CHECK(failure(text + " == ''").contains("too expensive to evaluate"));

    std::string lists = "[1, 1]";
    for (int i = 0; i < 40; i++)
        lists = "cel.bind(s, " + lists + ", [s, s])";
    CHECK(failure("cel.bind(t, " + lists + ", t == t)")
              .contains("too expensive to evaluate"));
}

TEST_CASE("what evaluations cost is bounded in sum")
{
    auto selector = CelSelector::parse(
        "device.driver == 'gpu.example.com' && "
        "device.attributes['gpu.example.com'].model == 'A100'");
    REQUIRE(selector.has_value());
    CelBudget sum(1000);
    std::size_t answers = 0;
    while (selector->matches(gpu(), sum))
        answers++;
    CHECK(answers > std::size_t{20});
    CHECK(answers < std::size_t{100});
    CHECK(sum.spent());
    auto refused = selector->matches(gpu(), sum);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Code::rejected);
    CHECK(refused.error().message.ends_with(
        "too expensive to evaluate for so many devices"));
    CHECK(selector->matches(gpu()).has_value());
}

TEST_CASE("what is too much by itself leaves nothing for others")
{
    std::string text = "'aaaaaaaaaaaaaaaa'";
    for (int i = 0; i < 40; i++)
        text = "cel.bind(s, " + text + ", s + s)";
    auto selector = CelSelector::parse(text + " == ''");
    REQUIRE(selector.has_value());

    CelBudget sum(2 * CelSelector::max_cost);
    auto refused = selector->matches(gpu(), sum);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.ends_with("too expensive to evaluate"));
    CHECK(sum.spent());
}
