// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace bridge {

// The text with a "?" for each byte that no UTF-8 has there.
std::string as_utf8(std::string_view text);

} // namespace bridge
