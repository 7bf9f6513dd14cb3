// SPDX-License-Identifier: GPL-2.0-or-later
// Edits k8s.conf as text: only the values that must change do, and no comment
// or other line is lost. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Returns the value of the key, without blanks and comment.
std::optional<std::string> conf_value(std::string_view text,
                                      std::string_view key);

// Returns the text with this value: in place of the present one, or else in a
// line of its own at the end.
std::string with_conf_value(std::string_view text, std::string_view key,
                            std::string_view value);

} // namespace bridge
