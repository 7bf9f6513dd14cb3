// SPDX-License-Identifier: GPL-2.0-or-later
// Finds, replaces and joins JSON texts without changing any other byte.
// Used for opaque parameters, which the API server compares byte by byte.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

// Returns the text of the value at this path (same form as for Json). The
// document must be one that Json::parse() accepts; for any other text the
// result is some part of it, or nothing. Nothing is returned if the value does
// not exist, or if a member name with escapes comes before it: that name might
// be the one (the API server writes no escapes in names).
std::optional<std::string_view> json_text(std::string_view document,
                                          std::string_view path);
// The result is a part of the document, which therefore must not be a
// temporary.
template <std::same_as<std::string> Text>
std::optional<std::string_view> json_text(Text &&, std::string_view) = delete;

// Returns the object with one member set: replaced in place if it exists,
// otherwise appended. All other bytes stay the same. value is JSON, too.
// Returns "" if object is not an object, or if a member name with escapes comes
// before the member.
std::string json_with(std::string_view object, std::string_view name,
                      std::string_view value);

// Join JSON texts whose bytes stay the same. A member whose text is "" is left
// out.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;
std::string json_array(const std::vector<std::string> &items);
std::string json_object(const JsonMembers &members);

} // namespace bridge
