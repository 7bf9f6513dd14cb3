// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/printable.h"

#include <cstdint>
#include <format>

namespace bridge {

namespace {

struct Character {
    std::uint32_t code = 0;
    std::size_t size = 1; // bytes
    bool valid = false;
};

bool continues(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Decodes the first character; text must not be empty.
Character next_character(std::string_view text)
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
        Character c = next_character(text);
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
        Character c = next_character(json);
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
