// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the times of job_values.h.
#include "agent/decide/job_values.h"

#include <array>
#include <charconv>
#include <ctime>
#include <vector>

namespace bridge {

namespace {

constexpr std::uint32_t max_minutes = 365 * 24 * 60 * 10;          // ten years
constexpr std::int64_t max_delay = std::int64_t{max_minutes} * 60; // seconds

// Reads a number at the beginning of `text` and removes it there.
std::optional<std::uint32_t> read_number(std::string_view &text)
{
    std::uint32_t n = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end == text.data() || n > max_minutes * 60)
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return n;
}

// Reads at most three numbers separated by ':'.
std::optional<std::vector<std::uint32_t>> read_fields(std::string_view text)
{
    std::vector<std::uint32_t> fields;
    for (;;) {
        auto n = read_number(text);
        if (!n)
            return std::nullopt;
        fields.push_back(*n);
        if (text.empty())
            return fields;
        if (text.front() != ':' || fields.size() == 3)
            return std::nullopt;
        text.remove_prefix(1);
    }
}

// Reads a number of exactly this many digits at the beginning of `text` and
// removes it, together with the character `then` that must follow; 0: none.
std::optional<int> read_digits(std::string_view &text, std::size_t digits,
                               char then)
{
    if (text.size() < digits + (then != 0) ||
        (then != 0 && text[digits] != then))
        return std::nullopt;
    int n = 0;
    for (char c : text.substr(0, digits)) {
        if (c < '0' || c > '9')
            return std::nullopt;
        n = n * 10 + (c - '0');
    }
    text.remove_prefix(digits + (then != 0));
    return n;
}

std::optional<std::chrono::year_month_day> read_date(std::string_view &text)
{
    auto year = read_digits(text, 4, '-');
    auto month = year ? read_digits(text, 2, '-') : std::nullopt;
    auto day = month ? read_digits(text, 2, 0) : std::nullopt;
    if (!day)
        return std::nullopt;
    std::chrono::year_month_day date{std::chrono::year(*year),
                                     std::chrono::month(unsigned(*month)),
                                     std::chrono::day(unsigned(*day))};
    if (!date.ok() || *year < 1970)
        return std::nullopt;
    return date;
}

// Reads THH:MM[:SS]; an empty text is midnight.
std::optional<std::chrono::seconds> read_clock(std::string_view &text)
{
    if (text.empty() || text.front() != 'T')
        return std::chrono::seconds(0);
    text.remove_prefix(1);
    auto hour = read_digits(text, 2, ':');
    auto minute = hour ? read_digits(text, 2, 0) : std::nullopt;
    std::optional<int> second = 0;
    if (minute && text.starts_with(':')) {
        text.remove_prefix(1);
        second = read_digits(text, 2, 0);
    }
    if (!minute || !second || *hour > 23 || *minute > 59 || *second > 59)
        return std::nullopt;
    return std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
           std::chrono::seconds(*second);
}

// Uses the time zone of slurmctld's host, as sbatch does there.
std::optional<std::chrono::sys_seconds>
local_time(std::chrono::year_month_day date, std::chrono::seconds clock)
{
    std::tm parts{};
    parts.tm_year = int(date.year()) - 1900;
    parts.tm_mon = int(unsigned(date.month())) - 1;
    parts.tm_mday = int(unsigned(date.day()));
    parts.tm_hour = int(clock.count() / 3600);
    parts.tm_min = int(clock.count() / 60 % 60);
    parts.tm_sec = int(clock.count() % 60);
    parts.tm_isdst = -1;
    std::time_t time = std::mktime(&parts);
    if (time == -1)
        return std::nullopt;
    return std::chrono::sys_seconds(std::chrono::seconds(time));
}

std::optional<std::chrono::sys_seconds> parse_date(std::string_view text)
{
    auto date = read_date(text);
    auto clock = date ? read_clock(text) : std::nullopt;
    if (!clock)
        return std::nullopt;
    if (text == "Z")
        return std::chrono::sys_days(*date) + *clock;
    return text.empty() ? local_time(*date, *clock) : std::nullopt;
}

// Returns the unit in seconds. sbatch accepts every prefix of these words, and
// singular as well as plural.
std::optional<std::int64_t> unit_of(std::string_view text)
{
    struct Unit {
        std::string_view name;
        std::int64_t seconds;
    };
    constexpr std::array<Unit, 5> units = {{{"seconds", 1},
                                            {"minutes", 60},
                                            {"hours", 3600},
                                            {"days", 86400},
                                            {"weeks", 604800}}};
    if (text.empty())
        return 1;
    for (const Unit &unit : units)
        if (text == unit.name ||
            text == unit.name.substr(0, unit.name.size() - 1))
            return unit.seconds;
    return std::nullopt;
}

std::optional<std::int64_t> parse_delay(std::string_view text)
{
    if (text.empty())
        return 0;
    if (text.front() != '+')
        return std::nullopt;
    text.remove_prefix(1);
    auto count = read_number(text);
    auto unit = count ? unit_of(text) : std::nullopt;
    if (!unit || *count > max_delay / *unit)
        return std::nullopt;
    return *count * *unit;
}

} // namespace

std::optional<std::uint32_t> parse_time_limit(std::string_view text)
{
    std::uint64_t days = 0;
    bool has_days = false;
    if (std::size_t dash = text.find('-'); dash != text.npos) {
        std::string_view front = text.substr(0, dash);
        auto n = read_number(front);
        if (!n || !front.empty())
            return std::nullopt;
        days = *n;
        has_days = true;
        text.remove_prefix(dash + 1);
    }
    auto fields = read_fields(text);
    if (!fields)
        return std::nullopt;
    // After days the first field is hours. Without days it is minutes, unless
    // there are three fields, which begin with hours.
    std::vector<std::uint32_t> &f = *fields;
    if (!has_days && f.size() < 3)
        f.insert(f.begin(), 0);
    f.resize(3, 0);
    std::uint64_t seconds = ((days * 24 + f[0]) * 60 + f[1]) * 60 + f[2];
    std::uint64_t minutes = seconds / 60 + (seconds % 60 != 0);
    if (minutes > max_minutes)
        return std::nullopt;
    return static_cast<std::uint32_t>(minutes);
}

std::optional<std::chrono::sys_seconds>
parse_moment(std::string_view text, std::chrono::sys_seconds now)
{
    constexpr std::string_view relative = "now";
    if (!text.starts_with(relative))
        return parse_date(text);
    auto delay = parse_delay(text.substr(relative.size()));
    if (!delay)
        return std::nullopt;
    return now + std::chrono::seconds(*delay);
}

} // namespace bridge
