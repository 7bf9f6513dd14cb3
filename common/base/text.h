// SPDX-License-Identifier: GPL-2.0-or-later
// Parses small texts written by users and other programs.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <vector>

namespace bridge {

// Returns the number if the whole text is one: decimal digits, after a '-' if
// Number is signed. Nothing for any other text, or if the value does not fit
// into Number.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text)
{
    Number number = 0;
    const char *last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc() || end != last)
        return std::nullopt;
    return number;
}

// Returns the part before the first separator, or the whole text, and removes
// it and the separator from text.
inline std::string_view next_part(std::string_view &text, char separator)
{
    std::size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    return part;
}

// Returns all parts, also empty ones: one more than there are separators.
inline std::vector<std::string_view> all_parts(std::string_view text,
                                               char separator)
{
    std::vector<std::string_view> parts;
    for (bool more = true; more;) {
        more = text.contains(separator);
        parts.push_back(next_part(text, separator));
    }
    return parts;
}

} // namespace bridge
