// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

struct Utf8Character {
    std::uint32_t code = 0; // its number in Unicode
    std::size_t size = 1;   // bytes
    bool valid = false;     // else it is one byte that is not UTF-8
};

// Decodes the first character; text must not be empty.
Utf8Character first_character(std::string_view text);

// Returns the text with each byte that is not valid UTF-8 replaced by "?".
std::string as_utf8(std::string_view text);

// Returns the number of characters in text, which is valid UTF-8.
std::size_t characters_in(std::string_view text);

} // namespace bridge
