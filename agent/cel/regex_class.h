// SPDX-License-Identifier: GPL-2.0-or-later
// Sets of characters for regular expressions, as ranges.
#pragma once

#include "agent/cel/regex.h"

#include <optional>
#include <string_view>
#include <vector>

namespace bridge {

using CharSet = std::vector<CharRange>;

inline constexpr char32_t last_character = 0x10ffff;

// In order, not overlapping.
CharSet normalized(CharSet set);
CharSet negated(const CharSet &set);

// With every ASCII letter in both cases, and the two characters beyond ASCII
// that are another case of one.
CharSet folded(CharSet set);

// \d, \s, \w by their letter. Nothing for other letters.
std::optional<CharSet> perl_class(char32_t letter);

// alpha, digit, … of [[:alpha:]]. Nothing for other names.
std::optional<CharSet> posix_class(std::string_view name);

} // namespace bridge
