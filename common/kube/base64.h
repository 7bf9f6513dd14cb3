// SPDX-License-Identifier: GPL-2.0-or-later
// Base64 (RFC 4648) for JSON and HTTP headers: padded, without line breaks.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bridge {

std::string base64(std::span<const unsigned char> bytes);
std::string base64(std::string_view bytes);

} // namespace bridge
