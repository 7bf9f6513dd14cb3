// SPDX-License-Identifier: GPL-2.0-or-later
// Sets of characters for regular expressions, as ranges. Pure.
#pragma once

#include "agent/cel/regex.h"

#include <optional>
#include <string_view>
#include <vector>

namespace bridge {

using CharSet = std::vector<CharRange>;

inline constexpr char32_t last_character = 0x10ffff;

// Returns the set sorted and without overlaps.
CharSet normalized(CharSet set);
CharSet negated(const CharSet &set);

// Adds the other case of every ASCII letter, and the two characters beyond
// ASCII that are another case of an ASCII letter (the Kelvin sign and the long
// s).
CharSet folded(CharSet set);

// Returns the class \d, \s or \w for its letter, or nothing for another letter.
std::optional<CharSet> perl_class(char32_t letter);

// Returns the class [[:NAME:]], such as alpha or digit, or nothing for an
// unknown name.
std::optional<CharSet> posix_class(std::string_view name);

} // namespace bridge
