// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bridge {

// Returns the text with each byte that is not valid UTF-8 replaced by "?".
std::string as_utf8(std::string_view text);

// Returns the number of characters in text, which is valid UTF-8.
std::size_t characters_in(std::string_view text);

} // namespace bridge
