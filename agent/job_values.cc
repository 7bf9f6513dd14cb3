// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/job_values.h"

#include "agent/kube_text.h"
#include "common/printable.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <vector>

namespace bridge {

namespace {

constexpr std::uint32_t max_minutes = 365 * 24 * 60 * 10; // ten years
constexpr std::int64_t max_delay = std::int64_t{max_minutes} * 60; // seconds
constexpr std::size_t max_text = 1024; // bytes: slurmctld's limit

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_name_character(char c)
{
    constexpr std::string_view others = "_-.@+";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
           others.contains(c);
}

bool is_name(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, is_name_character);
}

// What stands before the first of these separators; text moves behind it.
std::string_view take_until(std::string_view &text, std::string_view separators)
{
    std::size_t end = text.find_first_of(separators);
    std::string_view front = text.substr(0, end);
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    return front;
}

// Every piece of text between separators, of which there is one at least.
template <class Good>
bool all_pieces(std::string_view text, char separator, Good good)
{
    for (;;) {
        std::size_t end = text.find(separator);
        if (!good(text.substr(0, end)))
            return false;
        if (end == text.npos)
            return true;
        text.remove_prefix(end + 1);
    }
}

// One number in front of text, which moves behind it.
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

// Numbers with ':' between them, at most three.
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

// A number of exactly so many digits in front of text, which moves behind it
// and behind the character that must follow; 0: none must.
std::optional<int> read_digits(std::string_view &text, std::size_t digits,
                               char then)
{
    if (text.size() < digits + (then != 0) ||
        (then != 0 && text[digits] != then))
        return std::nullopt;
    int n = 0;
    for (char c : text.substr(0, digits)) {
        if (!is_digit(c))
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
    std::chrono::year_month_day date{
        std::chrono::year(*year), std::chrono::month(unsigned(*month)),
        std::chrono::day(unsigned(*day))};
    if (!date.ok() || *year < 1970)
        return std::nullopt;
    return date;
}

// THH:MM[:SS], or nothing: midnight.
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

// The time zone is that of slurmctld's host, as for sbatch there.
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

// Seconds; sbatch takes every beginning of these words and both numbers.
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
        if (text == unit.name || text == unit.name.substr(0, unit.name.size() - 1))
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

// JOBID, JOBID_INDEX or JOBID_*, and behind "after" +MINUTES.
bool is_job_id(std::string_view text, bool may_delay)
{
    std::string_view delay = text;
    std::string_view job = take_until(delay, "+");
    if (job.size() != text.size() &&
        (!may_delay || !parse_number(delay, 0, max_minutes)))
        return false;
    std::string_view index = job;
    std::string_view id = take_until(index, "_");
    if (id.size() != job.size() && index != "*" &&
        !parse_number(index, 0, UINT32_MAX))
        return false;
    return parse_number(id, 1, UINT32_MAX).has_value();
}

bool is_one_dependency(std::string_view text)
{
    if (text == "singleton")
        return true;
    constexpr std::array<std::string_view, 5> kinds = {
        "after", "afterany", "afterok", "afternotok", "aftercorr"};
    std::size_t colon = text.find(':');
    std::string_view kind = text.substr(0, colon);
    if (colon == text.npos || !std::ranges::contains(kinds, kind))
        return false;
    return all_pieces(text.substr(colon + 1), ':', [&](std::string_view id) {
        return is_job_id(id, kind == "after");
    });
}

bool is_one_license(std::string_view text)
{
    std::string_view count = text;
    std::string_view name = take_until(count, ":");
    return is_name(name) && (name.size() == text.size() ||
                             parse_number(count, 1, UINT32_MAX));
}

bool is_one_gres(std::string_view text)
{
    std::size_t pieces = 0;
    return text.find('@') == text.npos &&
           all_pieces(text, ':', [&](std::string_view piece) {
               return ++pieces <= 3 && is_name(piece);
           });
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
    // Behind days the first field is hours; alone it is minutes, and only three
    // fields begin with hours.
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

std::optional<Switches> parse_switches(std::string_view text)
{
    std::string_view time = text;
    std::string_view count = take_until(time, "@");
    auto n = parse_number(count, 1, UINT16_MAX);
    if (!n)
        return std::nullopt;
    Switches switches{static_cast<std::uint32_t>(*n), {}};
    if (count.size() == text.size())
        return switches;
    auto minutes = parse_time_limit(time);
    if (!minutes)
        return std::nullopt;
    switches.wait = std::chrono::minutes(*minutes);
    return switches;
}

std::optional<std::int64_t> parse_number(std::string_view text,
                                         std::int64_t low, std::int64_t high)
{
    if (low < 0 && text.starts_with('+') && !text.starts_with("+-"))
        text.remove_prefix(1);
    std::int64_t n = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < low ||
        n > high)
        return std::nullopt;
    return n;
}

bool is_name_list(std::string_view text)
{
    return text.size() <= max_text && all_pieces(text, ',', is_name);
}

bool is_dependency(std::string_view text)
{
    char separator = text.contains('?') ? '?' : ',';
    return text.size() <= max_text &&
           all_pieces(text, separator, is_one_dependency);
}

bool is_license_list(std::string_view text)
{
    char separator = text.contains('|') ? '|' : ',';
    return text.size() <= max_text &&
           all_pieces(text, separator, is_one_license);
}

bool is_gres_list(std::string_view text)
{
    return text.size() <= max_text && all_pieces(text, ',', is_one_gres);
}

bool is_plain_text(std::string_view text)
{
    return text.size() <= max_text && printable(text) == text &&
           clean_text(text, max_text) == text;
}

} // namespace bridge
