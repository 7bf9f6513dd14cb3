// SPDX-License-Identifier: GPL-2.0-or-later
// Finds and replaces parts of a JSON document without changing any other byte.
// Used for opaque parameters, which the API server compares byte by byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Returns the text of the value at this path (same form as for Json). The
// document must be one that Json::parse() accepts; for any other text the
// result is some part of it, or nothing. Nothing is returned if the value does
// not exist, or if a member name with escapes comes before it: that name might
// be the one (the API server writes no escapes in names).
std::optional<std::string_view> json_text(std::string_view document,
                                          std::string_view path);

// Returns the object with one member set: replaced in place if it exists,
// otherwise appended. All other bytes stay the same. value is JSON, too.
// Returns "" if object is not an object, or if a member name with escapes comes
// before the member.
std::string json_with(std::string_view object, std::string_view name,
                      std::string_view value);

} // namespace bridge
