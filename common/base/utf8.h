// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace bridge {

// Returns the text with each byte that is not valid UTF-8 replaced by "?".
std::string as_utf8(std::string_view text);

} // namespace bridge
