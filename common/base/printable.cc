// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/printable.h"

#include "common/base/utf8.h"

#include <cstdint>
#include <format>

namespace bridge {

namespace {

bool is_control(std::uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x200e ||
           code == 0x200f ||                     // direction marks
           (code >= 0x2028 && code <= 0x202e) || // separators, embeddings
           (code >= 0x2066 && code <= 0x2069);   // isolates
}

} // namespace

std::string printable(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        Utf8Character c = first_character(text);
        if (!c.valid)
            out += '?';
        else if (is_control(c.code))
            out += ' ';
        else
            out += text.substr(0, c.size);
        text.remove_prefix(c.size);
    }
    return out;
}

std::string printable_json(std::string_view json)
{
    std::string out;
    while (!json.empty()) {
        Utf8Character c = first_character(json);
        if (!c.valid)
            out += '?';
        else if (is_control(c.code) && c.code >= 0x7f) // lower ones are between
                                                       // tokens
            out += std::format("\\u{:04x}", c.code);
        else
            out += json.substr(0, c.size);
        json.remove_prefix(c.size);
    }
    return out;
}

} // namespace bridge
