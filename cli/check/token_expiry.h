// SPDX-License-Identifier: GPL-2.0-or-later
// When the token of a ServiceAccount expires. Pure function.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace bridge {

// Returns the time in the token's own claim, which is not verified. Returns
// nothing for a token that does not expire, for text that is not a JWT, and for
// times before 1970 or after the year 9999.
std::optional<std::chrono::sys_seconds> token_expiry(const std::string &token);

} // namespace bridge
