// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/units.h"

#include "common/base/quantity.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace bridge {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide limit = Wide{1} << 62; // larger than any machine or Pod
constexpr std::int64_t bytes_per_mib = 1 << 20;

// Returns the value rounded up, or nothing if it is above the limit.
std::optional<std::int64_t> evaluate(QuantityText number)
{
    Wide value = static_cast<Wide>(number.digits);
    if (value == 0)
        return 0;
    bool rounded = false;
    auto divide = [&](unsigned by) {
        rounded = rounded || value % by != 0;
        value /= by;
    };
    for (; number.twos > 0 && number.tens < 0; number.tens++) {
        // Divide before multiplying as long as that is exact.
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
    auto bad = [&](const char *reason) {
        return fail(Code::rejected, "quantity \"" +
                                        std::string(text.substr(0, 64)) +
                                        "\" " + reason);
    };
    auto number = read_quantity(text);
    if (!number || number->negative)
        return bad("is not valid");
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
    return MebiBytes{
        static_cast<std::uint64_t>(std::max<std::int64_t>(mib, 1))};
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

Bytes bytes_of(MebiBytes memory)
{
    return Bytes{static_cast<std::int64_t>(memory.value) * bytes_per_mib};
}

} // namespace bridge
