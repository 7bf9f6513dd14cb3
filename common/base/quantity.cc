// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/quantity.h"

#include "common/base/ascii.h"

#include <algorithm>
#include <array>
#include <limits>

namespace bridge {

namespace {

using Format = QuantityText::Format;

constexpr int max_digits = 30;
constexpr WideInt billion = 1000000000;
constexpr WideInt largest = std::numeric_limits<std::int64_t>::max() * billion;

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

// Reads the number in front of the suffix and removes it from text.
bool read_decimal(std::string_view &text, QuantityText &number)
{
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
        number.digits = number.digits * 10 + (c - '0');
        significant += number.digits != 0;
        number.tens -= point;
        if (significant > max_digits || number.tens < -max_digits)
            return false;
    }
    return any;
}

std::optional<int> read_exponent(std::string_view text)
{
    if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E'))
        return std::nullopt;
    text.remove_prefix(1);
    bool negative = text[0] == '-';
    if (text[0] == '-' || text[0] == '+')
        text.remove_prefix(1);
    if (text.empty() || text.size() > 2 || !std::ranges::all_of(text, is_digit))
        return std::nullopt;
    int value = 0;
    for (char c : text)
        value = value * 10 + (c - '0');
    return negative ? -value : value;
}

// Returns the amount in units of 10^-9, rounded up and cut at the largest.
WideInt nanos_of(QuantityText number)
{
    WideInt value = number.digits;
    int tens = number.tens + 9;
    bool rounded = false;
    auto divide = [&] {
        rounded = rounded || value % 10 != 0;
        value /= 10;
        tens++;
    };
    while (tens < 0 && value != 0 && value % 10 == 0)
        divide();
    for (int twos = number.twos; twos > 0; twos--) {
        // Makes room to double the value: the digits that are lost are below
        // the precision.
        while (value > std::numeric_limits<WideInt>::max() / 4 && tens < 0)
            divide();
        if (value > std::numeric_limits<WideInt>::max() / 4)
            return largest;
        value *= 2;
    }
    for (; tens > 0 && value != 0; tens--) {
        if (value > largest)
            return largest;
        value *= 10;
    }
    while (tens < 0 && value != 0)
        divide();
    return std::min(value + rounded, largest);
}

std::string digits_of(WideInt value)
{
    std::string text;
    do {
        text.insert(text.begin(), static_cast<char>('0' + value % 10));
        value /= 10;
    } while (value > 0);
    return text;
}

std::string binary_text(WideInt units)
{
    auto suffix = std::ranges::find(suffixes, "Ki", &Suffix::text);
    std::string_view unit;
    for (; suffix != suffixes.end() && units % 1024 == 0; suffix++) {
        units /= 1024;
        unit = suffix->text;
    }
    return digits_of(units) + std::string(unit);
}

std::string decimal_text(WideInt nanos, bool exponent)
{
    auto suffix = suffixes.begin();
    for (; suffix->tens < 18 && nanos % 1000 == 0; suffix++)
        nanos /= 1000;
    if (!exponent || suffix->tens == 0)
        return digits_of(nanos) + std::string(suffix->text);
    return digits_of(nanos) + "e" + std::to_string(suffix->tens);
}

} // namespace

std::optional<QuantityText> read_quantity(std::string_view text)
{
    QuantityText number;
    if (text.starts_with('+') || text.starts_with('-')) {
        number.negative = text.front() == '-';
        text.remove_prefix(1);
    }
    if (!read_decimal(text, number))
        return std::nullopt;
    for (const Suffix &suffix : suffixes) {
        if (suffix.text == text) {
            number.tens += suffix.tens;
            number.twos += suffix.twos;
            if (suffix.twos > 0)
                number.format = Format::binary;
            return number;
        }
    }
    auto exponent = read_exponent(text);
    if (!exponent)
        return std::nullopt;
    number.tens += *exponent;
    number.format = Format::exponent;
    return number;
}

Quantity::Quantity(WideInt nanos, Format format)
    : nanos_(std::clamp(nanos, -largest, largest)), format_(format)
{
}

Result<Quantity> Quantity::parse(std::string_view text)
{
    auto number = read_quantity(text);
    if (!number)
        return fail(Code::rejected, "quantity \"" +
                                        std::string(text.substr(0, 64)) +
                                        "\" is not valid");
    WideInt nanos = nanos_of(*number);
    return Quantity(number->negative ? -nanos : nanos, number->format);
}

std::string Quantity::text() const
{
    if (nanos_ == 0)
        return "0";
    WideInt size = nanos_ < 0 ? -nanos_ : nanos_;
    std::string sign = nanos_ < 0 ? "-" : "";
    if (format_ == Format::binary && size % billion == 0 &&
        size >= 1024 * billion)
        return sign + binary_text(size / billion);
    return sign + decimal_text(size, format_ == Format::exponent);
}

} // namespace bridge
