// SPDX-License-Identifier: GPL-2.0-or-later
// Reading small texts: what users and other programs have written.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace bridge {

// The number that all of text is: decimal digits, behind a '-' where Number is
// signed. Nothing for any other text, and where Number is too small for it.
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

// What is before the first separator, or all of it; moves text behind that.
inline std::string_view next_part(std::string_view &text, char separator)
{
    std::size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    return part;
}

} // namespace bridge
