// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes as text: two lower-case digits each.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bridge {

std::string hexadecimal(std::span<const unsigned char> bytes);

// Of so many bytes that nobody can guess; empty where the kernel has none.
std::string random_hexadecimal(std::size_t bytes);

// Whether it is such a text, of so many digits.
bool is_hexadecimal(std::string_view text, std::size_t digits);

} // namespace bridge
