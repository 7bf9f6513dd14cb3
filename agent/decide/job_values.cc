// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/job_values.h"

#include "common/base/ascii.h"
#include "common/base/printable.h"
#include "common/base/text.h"
#include "common/kube/text.h"

#include <algorithm>
#include <array>

namespace bridge {

namespace {

constexpr std::uint32_t max_minutes = 365 * 24 * 60 * 10; // ten years
constexpr std::size_t max_text = 1024; // bytes: slurmctld's limit

bool is_name_character(char c)
{
    constexpr std::string_view others = "_-.@+";
    return is_letter_or_digit(c) || others.contains(c);
}

bool is_name(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, is_name_character);
}

// Returns the text before the first of these separators and removes both from
// `text`.
std::string_view pop_until(std::string_view &text, std::string_view separators)
{
    std::size_t end = text.find_first_of(separators);
    std::string_view front = text.substr(0, end);
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    return front;
}

// Whether all pieces of the text between separators are good; there is at least
// one.
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

// Accepts JOBID, JOBID_INDEX or JOBID_*, and +MINUTES at the end if may_delay.
bool is_job_id(std::string_view text, bool may_delay)
{
    std::string_view delay = text;
    std::string_view job = pop_until(delay, "+");
    if (job.size() != text.size() &&
        (!may_delay || !parse_number(delay, 0, max_minutes)))
        return false;
    std::string_view index = job;
    std::string_view id = pop_until(index, "_");
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
    std::string_view name = pop_until(count, ":");
    return is_name(name) &&
           (name.size() == text.size() || parse_number(count, 1, UINT32_MAX));
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

std::optional<Switches> parse_switches(std::string_view text)
{
    std::string_view time = text;
    std::string_view count = pop_until(time, "@");
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
    auto n = whole_number<std::int64_t>(text);
    return n && *n >= low && *n <= high ? n : std::nullopt;
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
