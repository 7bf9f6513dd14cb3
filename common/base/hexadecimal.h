// SPDX-License-Identifier: GPL-2.0-or-later
// Writes bytes as hexadecimal text, two lower-case digits each.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bridge {

std::string hexadecimal(std::span<const unsigned char> bytes);

// Returns this many random bytes as text; they are unpredictable
// (getrandom(2)). Empty if the kernel has no random numbers.
std::string random_hexadecimal(std::size_t bytes);

// Tells whether text consists of exactly this many lower-case hexadecimal
// digits.
bool is_hexadecimal(std::string_view text, std::size_t digits);

} // namespace bridge
