// SPDX-License-Identifier: GPL-2.0-or-later
// How many columns of a terminal a text takes. For text that printable() has
// made safe: no control characters, all UTF-8. Pure; needs no locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bridge {

// Returns the columns: two for each wide character of East Asian scripts and
// for pictures, none for marks that combine with the character before.
// Terminals differ in rare characters.
std::size_t display_width(std::string_view text);

// Returns the text in at most so many columns. If something is left out the
// last column has a "+", as in the tables of sacct. No character has more than
// two combining marks afterwards.
std::string cut_to_width(std::string_view text, std::size_t columns);

// The same with blanks behind it, or before it, in exactly so many columns.
std::string padded_right(std::string_view text, std::size_t columns);
std::string padded_left(std::string_view text, std::size_t columns);

} // namespace bridge
