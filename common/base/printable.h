// SPDX-License-Identifier: GPL-2.0-or-later
// Makes text from elsewhere safe for a terminal: names, annotations and
// messages may contain escape sequences. Pure.
#pragma once

#include <string>
#include <string_view>

namespace bridge {

// Returns the text on one line. Control characters become blanks, including the
// 8-bit ones and those that change the writing direction. Bytes that are not
// UTF-8 become '?'.
std::string printable(std::string_view text);

// Returns the JSON text with these characters escaped. RapidJSON writes those
// from 0x7f on as they are.
std::string printable_json(std::string_view json);

} // namespace bridge
