// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/units.h"

#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <string>

using namespace bridge;

namespace {

constexpr std::int64_t one = 1;

std::optional<std::int64_t> units(const std::string &text)
{
    auto value = parse_quantity(text, 0);
    return value ? std::optional(*value) : std::nullopt;
}

} // namespace

TEST_CASE("a quantity is read exactly and rounded up to whole units")
{
    struct Row {
        const char *text;
        std::int64_t units;
    };
    const Row rows[] = {
        {"0", 0},
        {"1", 1},
        {"+1", 1},
        {"007", 7},
        {"1.", 1},
        {".5", 1},
        {"0.1", 1},
        {"1.0", 1},
        {"1.000", 1},
        {"1.0001", 2},
        {"0.0000000001", 1},
        {"0.000", 0},
        {"1n", 1},
        {"1000000000n", 1},
        {"1000000001n", 2},
        {"999u", 1},
        {"1m", 1},
        {"1000m", 1},
        {"1001m", 2},
        {"1k", 1000},
        {"1M", 1000000},
        {"1G", 1000000000},
        {"1T", 1000000000000},
        {"1P", 1000000000000000},
        {"4E", 4000000000000000000},
        {"1Ki", one << 10},
        {"1Mi", one << 20},
        {"1Gi", one << 30},
        {"1Ti", one << 40},
        {"1Pi", one << 50},
        {"1Ei", one << 60},
        {"4Ei", one << 62},
        {"1.5Gi", 3 * (one << 29)},
        {"0.1Ki", 103},
        {"0.1Gi", 107374183},
        {"0.000000001Ki", 1},
        {"1e3", 1000},
        {"1E3", 1000},
        {"1e+3", 1000},
        {"1e03", 1000},
        {"1.5e3", 1500},
        {"1500e-3", 2},
        {"1e-30", 1},
        {"1e-99", 1},
        {"0e99", 0},
        {"1e18", 1000000000000000000},
        {"4611686018427387904", one << 62},
    };
    for (const Row &row : rows) {
        CAPTURE(row.text);
        CHECK(units(row.text) == row.units);
    }
}

TEST_CASE("what is no quantity, or too large for any machine, is rejected")
{
    const std::string rows[] = {
        "",
        " ",
        "1 ",
        " 1",
        "-1",
        "--1",
        "-",
        "+",
        "++1",
        "+-1",
        ".",
        "1..2",
        "1.2.3",
        "1,5",
        "abc",
        "1x",
        "1ki",
        "1KI",
        "1mi",
        "1K",
        "1kk",
        "1GiB",
        "1Gi ",
        "Gi",
        "m",
        "e3",
        "1e",
        "1e+",
        "1e-",
        "1e999",
        "1e-999",
        "1e1.5",
        "1e3m",
        "1ei",
        "0x10",
        "1_000",
        "inf",
        "nan",
        "1e40",
        "5E",
        "5Ei",
        "4611686018427387905",
        "9223372036854775808",
        "18446744073709551616",
        "340282366920938463463374607431768211457", // 2^128 + 1
        "1" + std::string(40, '0'),
        "1" + std::string(100000, '0'),
        "0." + std::string(100000, '0') + "1",
        std::string(100000, '9') + "Ei",
        std::string(1, '\0'),
        std::string("1\0", 2),
        "\xff",
        "\xef\xbc\x91", // a full-width digit
    };
    for (const std::string &row : rows) {
        CAPTURE(row.substr(0, 50));
        auto value = parse_quantity(row, 0);
        REQUIRE_FALSE(value);
        CHECK(value.error().code == Code::rejected);
        CHECK(value.error().message.size() < 200);
    }
}

TEST_CASE("CPUs are read in thousandths, rounded up")
{
    CHECK(*parse_cpu("1") == MilliCpu{1000});
    CHECK(*parse_cpu("500m") == MilliCpu{500});
    CHECK(*parse_cpu("0.1") == MilliCpu{100});
    CHECK(*parse_cpu("1n") == MilliCpu{1});
    CHECK(*parse_cpu("100.0001m") == MilliCpu{101});
    CHECK(*parse_cpu("10k") == MilliCpu{10000000});
    CHECK_FALSE(parse_cpu("4E"));
    CHECK_FALSE(parse_cpu("-1"));
}

TEST_CASE("an amount that a Pod asks is rounded up, to 1 at least")
{
    struct Row {
        std::int64_t milli;
        std::uint32_t cpus;
    };
    for (Row row : {Row{0, 1}, Row{1, 1}, Row{1000, 1}, Row{1001, 2},
                    Row{1500, 2}, Row{one << 62, UINT32_MAX}}) {
        CAPTURE(row.milli);
        CHECK(whole_cpus_up(MilliCpu{row.milli}) == row.cpus);
    }

    constexpr std::int64_t mib = 1 << 20;
    CHECK(mebibytes_up(Bytes{0}) == MebiBytes{1});
    CHECK(mebibytes_up(Bytes{1}) == MebiBytes{1});
    CHECK(mebibytes_up(Bytes{mib}) == MebiBytes{1});
    CHECK(mebibytes_up(Bytes{mib + 1}) == MebiBytes{2});
    CHECK(mebibytes_up(Bytes{std::numeric_limits<std::int64_t>::max()}) ==
          MebiBytes{std::uint64_t{1} << 43});
}

TEST_CASE("an amount that a node has is rounded down, to nothing if need be")
{
    constexpr std::int64_t mib = 1 << 20;

    CHECK(whole_cpus_down(MilliCpu{999}) == 0);
    CHECK(whole_cpus_down(MilliCpu{1999}) == 1);
    CHECK(whole_cpus_down(MilliCpu{-1}) == 0);
    CHECK(whole_cpus_down(MilliCpu{one << 62}) == UINT32_MAX);
    CHECK(mebibytes_down(Bytes{mib - 1}) == MebiBytes{0});
    CHECK(mebibytes_down(Bytes{2 * mib - 1}) == MebiBytes{1});
    CHECK(mebibytes_down(Bytes{-1}) == MebiBytes{0});
}
