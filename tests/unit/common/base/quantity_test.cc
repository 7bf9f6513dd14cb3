// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/quantity.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

Quantity amount(std::string_view text)
{
    auto value = Quantity::parse(text);
    REQUIRE_MESSAGE(value.has_value(), text);
    return *value;
}

struct Row {
    const char *text;
    const char *canonical;
};

} // namespace

// Each of these was tried on the API server's own code.
TEST_CASE("a quantity is written as the API server writes it")
{
    constexpr Row rows[] = {
        {"0", "0"},
        {"0Gi", "0"},
        {"1024Ki", "1Mi"},
        {"1536Mi", "1536Mi"},
        {"2048Mi", "2Gi"},
        {"512", "512"},
        {"0.5Gi", "512Mi"},
        {"0.5Ki", "512"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"1000", "1k"},
        {"1000000k", "1G"},
        {"1e3", "1e3"},
        {"1E", "1E"},
        {"1e-3", "1e-3"},
        {"12e6", "12e6"},
        {"-1Gi", "-1Gi"},
        {"+2", "2"},
        {"0.0000000001", "1n"},
        {"-0.1", "-100m"},
        {".5", "500m"},
        {"1.", "1"},
        {"100000Ei", "9223372036854775807"},
        {"0.1Ki", "102400m"},
        {"40Gi", "40Gi"},
        {"1500Ki", "1500Ki"},
    };
    for (const auto &[text, canonical] : rows) {
        CAPTURE(text);
        CHECK(amount(text).text() == canonical);
    }
}

TEST_CASE("quantities are compared by their value")
{
    CHECK(amount("40960Mi") == amount("40Gi"));
    CHECK(amount("1") == amount("1000m"));
    CHECK(amount("1k") < amount("1Ki"));
    CHECK(amount("-1") < amount("0"));
    CHECK(amount("0.1") > amount("99m"));
    CHECK(amount("9E") > amount("8999P"));
}

TEST_CASE("what is no quantity is rejected")
{
    for (const char *text : {"", "-", ".", "Gi", "1 Gi", "1gi", "1Ki2", "1e",
                             "0x1", "one", "1,5", "--1", "1.2.3"}) {
        CAPTURE(text);
        auto value = Quantity::parse(text);
        REQUIRE(!value.has_value());
        CHECK(value.error().code == Code::rejected);
    }
}
