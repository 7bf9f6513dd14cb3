// SPDX-License-Identifier: GPL-2.0-or-later
// A part of a JSON document as it is written there, byte for byte: for opaque
// parameters, which the API server compares by their bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// The text of the value at the path, which is written as for Json, in a
// document that Json::parse() has accepted. Nothing when it is not there, or
// behind a name with escapes, which the API server writes none of. Of other
// texts something comes back that is in them, or nothing.
std::optional<std::string_view> json_text(std::string_view document,
                                          std::string_view path);

// The object with that member, in its place when there is one, else at the end;
// everything else as it is written. The value is JSON, too. Of what is no
// object
// "" comes back, and behind a name with escapes.
std::string json_with(std::string_view object, std::string_view name,
                      std::string_view value);

} // namespace bridge
