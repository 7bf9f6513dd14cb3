// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/text.h"

#include "common/base/ascii.h"
#include "common/base/json.h"

#include <algorithm>
#include <format>
#include <ranges>
#include <sstream>

namespace bridge {

namespace {

constexpr std::size_t max_subdomain = 253;
constexpr std::size_t max_name = 63;

bool is_dns_label(std::string_view text)
{
    return !text.empty() && is_lower_or_digit(text.front()) &&
           is_lower_or_digit(text.back()) &&
           std::ranges::all_of(
               text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_name_part(std::string_view text)
{
    return !text.empty() && text.size() <= max_name &&
           is_letter_or_digit(text.front()) &&
           is_letter_or_digit(text.back()) &&
           std::ranges::all_of(text, [](char c) {
               return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
           });
}

// Replaces bytes that are not UTF-8, as JsonValue does.
std::string as_utf8(std::string_view text)
{
    auto json = Json::parse(JsonValue(text).dump());
    return json ? json->text() : std::string();
}

} // namespace

bool is_object_name(std::string_view text)
{
    if (text.empty() || text.size() > max_subdomain)
        return false;
    return std::ranges::all_of(std::views::split(text, '.'), [](auto part) {
        return is_dns_label(std::string_view(part));
    });
}

bool is_label_value(std::string_view text)
{
    return text.empty() || is_name_part(text);
}

bool is_qualified_name(std::string_view text)
{
    std::size_t slash = text.find('/');
    if (slash == text.npos)
        return is_name_part(text);
    return is_object_name(text.substr(0, slash)) &&
           is_name_part(text.substr(slash + 1));
}

std::string clean_text(std::string_view text, std::size_t max)
{
    std::string clean = as_utf8(text);
    if (clean.size() <= max)
        return clean;
    std::size_t end = max;
    while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xc0) == 0x80)
        end--;
    clean.resize(end);
    return clean;
}

std::string micro_time(std::chrono::system_clock::time_point time)
{
    return std::format("{:%FT%T}Z",
                       std::chrono::floor<std::chrono::microseconds>(time));
}

std::string second_time(std::chrono::system_clock::time_point time)
{
    return std::format("{:%FT%T}Z",
                       std::chrono::floor<std::chrono::seconds>(time));
}

std::optional<std::chrono::sys_seconds> parse_time(const std::string &text)
{
    std::istringstream in(text);
    std::chrono::sys_seconds time;
    in >> std::chrono::parse("%FT%TZ", time);
    if (in.fail() || in.peek() != std::istringstream::traits_type::eof())
        return std::nullopt;
    return time;
}

} // namespace bridge
