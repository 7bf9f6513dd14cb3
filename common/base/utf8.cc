// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/utf8.h"

#include <algorithm>
#include <cstddef>

namespace bridge {

namespace {

// Returns the length of the UTF-8 sequence at the start of text; 0 if there is
// none.
std::size_t utf8_length(std::string_view text)
{
    auto byte = [&](std::size_t i) {
        return static_cast<unsigned char>(text[i]);
    };
    unsigned char first = byte(0);
    std::size_t length = first < 0x80             ? 1
                         : (first & 0xe0) == 0xc0 ? 2
                         : (first & 0xf0) == 0xe0 ? 3
                         : (first & 0xf8) == 0xf0 ? 4
                                                  : 0;
    if (length == 0 || length > text.size() || first == 0xc0 || first == 0xc1 ||
        first > 0xf4)
        return 0;
    for (std::size_t i = 1; i < length; i++)
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
    if (length >= 3 && ((first == 0xe0 && byte(1) < 0xa0) ||
                        (first == 0xed && byte(1) > 0x9f) ||
                        (first == 0xf0 && byte(1) < 0x90) ||
                        (first == 0xf4 && byte(1) > 0x8f)))
        return 0; // overlong, a surrogate, or beyond Unicode
    return length;
}

} // namespace

std::string as_utf8(std::string_view text)
{
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        std::size_t length = utf8_length(text);
        if (length == 0)
            clean += '?';
        else
            clean += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return clean;
}

std::size_t characters_in(std::string_view text)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

} // namespace bridge
