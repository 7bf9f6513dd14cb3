// SPDX-License-Identifier: GPL-2.0-or-later
// Text that others wrote, for a terminal: names, annotations and messages may
// hold escape sequences. Pure.
#pragma once

#include <string>
#include <string_view>

namespace bridge {

// The same text on one line: control characters, those of 8 bits and those that
// turn the direction of writing too, become blanks, and bytes that are no UTF-8
// become '?'.
std::string printable(std::string_view text);

// The same JSON, with these characters escaped, which RapidJSON passes through
// from 0x7f on.
std::string printable_json(std::string_view json);

} // namespace bridge
