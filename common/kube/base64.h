// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes as JSON and HTTP headers have them: RFC 4648's base64, padded, in one
// line.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bridge {

std::string base64(std::span<const unsigned char> bytes);
std::string base64(std::string_view bytes);

} // namespace bridge
