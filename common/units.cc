// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/units.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

namespace bridge {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide limit = Wide{1} << 62; // no machine and no Pod is larger
constexpr int max_digits = 30;
constexpr std::int64_t bytes_per_mib = 1 << 20;

struct Suffix {
    std::string_view text;
    int tens; // power of ten
    int twos; // power of two
};

constexpr std::array suffixes = {
    Suffix{"n", -9, 0},  Suffix{"u", -6, 0},  Suffix{"m", -3, 0},
    Suffix{"", 0, 0},    Suffix{"k", 3, 0},   Suffix{"M", 6, 0},
    Suffix{"G", 9, 0},   Suffix{"T", 12, 0},  Suffix{"P", 15, 0},
    Suffix{"E", 18, 0},  Suffix{"Ki", 0, 10}, Suffix{"Mi", 0, 20},
    Suffix{"Gi", 0, 30}, Suffix{"Ti", 0, 40}, Suffix{"Pi", 0, 50},
    Suffix{"Ei", 0, 60},
};

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// digits × 10^tens × 2^twos, what a quantity says before any rounding.
struct Exact {
    Wide digits = 0;
    int tens = 0;
    int twos = 0;
};

// The number in front of the suffix; moves text behind it.
std::optional<Exact> read_decimal(std::string_view &text)
{
    Exact number;
    bool any = false;
    bool point = false;
    int significant = 0;
    for (; !text.empty(); text.remove_prefix(1)) {
        char c = text.front();
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(c))
            break;
        any = true;
        number.digits = number.digits * 10 + static_cast<unsigned>(c - '0');
        significant += number.digits != 0;
        number.tens -= point;
        if (significant > max_digits || number.tens < -max_digits)
            return std::nullopt;
    }
    return any ? std::optional(number) : std::nullopt;
}

std::optional<int> read_exponent(std::string_view text)
{
    if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E'))
        return std::nullopt;
    text.remove_prefix(1);
    bool negative = text[0] == '-';
    if (text[0] == '-' || text[0] == '+')
        text.remove_prefix(1);
    if (text.empty() || text.size() > 2 ||
        !std::ranges::all_of(text, is_digit))
        return std::nullopt;
    int value = 0;
    for (char c : text)
        value = value * 10 + (c - '0');
    return negative ? -value : value;
}

std::optional<Exact> read_quantity(std::string_view text)
{
    if (text.starts_with('+'))
        text.remove_prefix(1);
    auto number = read_decimal(text);
    if (!number)
        return std::nullopt;
    for (const Suffix &suffix : suffixes) {
        if (suffix.text == text) {
            number->tens += suffix.tens;
            number->twos += suffix.twos;
            return number;
        }
    }
    auto exponent = read_exponent(text);
    if (!exponent)
        return std::nullopt;
    number->tens += *exponent;
    return number;
}

// Rounded up; nothing above the limit.
std::optional<std::int64_t> evaluate(Exact number)
{
    Wide value = number.digits;
    if (value == 0)
        return 0;
    bool rounded = false;
    auto divide = [&](unsigned by) {
        rounded = rounded || value % by != 0;
        value /= by;
    };
    for (; number.twos > 0 && number.tens < 0; number.tens++) {
        // Divide before multiplying, as far as that is exact.
        if (value % 10 != 0)
            break;
        value /= 10;
    }
    for (; number.twos > 0; number.twos--) {
        if (value > std::numeric_limits<Wide>::max() / 2)
            return std::nullopt;
        value *= 2;
    }
    for (; number.tens > 0; number.tens--) {
        if (value > limit)
            return std::nullopt;
        value *= 10;
    }
    for (; number.tens < 0; number.tens++)
        divide(10);
    value += rounded;
    if (value > limit)
        return std::nullopt;
    return static_cast<std::int64_t>(value);
}

} // namespace

Result<std::int64_t> parse_quantity(std::string_view text, int scale)
{
    auto bad = [&](const char *why) {
        return fail(Code::rejected, "quantity \"" +
                                        std::string(text.substr(0, 64)) +
                                        "\" " + why);
    };
    auto number = read_quantity(text);
    if (!number)
        return bad("is not one");
    number->tens -= scale;
    auto value = evaluate(*number);
    if (!value)
        return bad("is too large");
    return *value;
}

Result<MilliCpu> parse_cpu(std::string_view text)
{
    auto value = parse_quantity(text, -3);
    if (!value)
        return std::unexpected(value.error());
    return MilliCpu{*value};
}

Result<Bytes> parse_bytes(std::string_view text)
{
    auto value = parse_quantity(text, 0);
    if (!value)
        return std::unexpected(value.error());
    return Bytes{*value};
}

Result<std::int64_t> parse_count(std::string_view text)
{
    return parse_quantity(text, 0);
}

std::uint32_t whole_cpus_up(MilliCpu cpu)
{
    std::int64_t cpus = cpu.value / 1000 + (cpu.value % 1000 != 0);
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(cpus, 1, UINT32_MAX));
}

MebiBytes mebibytes_up(Bytes bytes)
{
    std::int64_t mib =
        bytes.value / bytes_per_mib + (bytes.value % bytes_per_mib != 0);
    return MebiBytes{static_cast<std::uint64_t>(std::max<std::int64_t>(mib, 1))};
}

std::uint32_t whole_cpus_down(MilliCpu cpu)
{
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(cpu.value / 1000, 0, UINT32_MAX));
}

MebiBytes mebibytes_down(Bytes bytes)
{
    return MebiBytes{static_cast<std::uint64_t>(
        std::max<std::int64_t>(bytes.value / bytes_per_mib, 0))};
}

} // namespace bridge
