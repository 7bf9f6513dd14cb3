// SPDX-License-Identifier: GPL-2.0-or-later
// Character tests and lower case for ASCII letters and digits. They do not
// depend on the locale.
#pragma once

#include <string>
#include <string_view>

namespace bridge {

inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

inline bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || is_digit(c);
}

inline bool is_letter_or_digit(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

inline std::string lower_case(std::string_view text)
{
    std::string made(text);
    for (char &c : made)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return made;
}

} // namespace bridge
