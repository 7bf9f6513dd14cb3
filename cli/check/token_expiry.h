// SPDX-License-Identifier: GPL-2.0-or-later
// When the token of a ServiceAccount expires. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace bridge {

// By its own claim, which nobody has verified; none for one that does not, or
// is no JWT. Not before 1970, nor after the year 9999.
std::optional<std::chrono::sys_seconds> token_expiry(const std::string &token);

} // namespace bridge
