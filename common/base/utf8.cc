// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/utf8.h"

#include <algorithm>

namespace bridge {

namespace {

bool continues(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

} // namespace

Utf8Character first_character(std::string_view text)
{
    auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80)
        return {lead, 1, true};
    std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size)
        return {};
    std::uint32_t code = lead & (0xffu >> (size + 1));
    for (std::size_t i = 1; i < size; i++) {
        if (!continues(text[i]))
            return {};
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
    }
    bool overlong =
        (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return {};
    return {code, size, true};
}

std::string as_utf8(std::string_view text)
{
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        Utf8Character c = first_character(text);
        if (c.valid)
            clean += text.substr(0, c.size);
        else
            clean += '?';
        text.remove_prefix(c.size);
    }
    return clean;
}

std::size_t characters_in(std::string_view text)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

} // namespace bridge
