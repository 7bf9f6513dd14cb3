// SPDX-License-Identifier: GPL-2.0-or-later
// Texts in the form that the API server requires: names, labels, times and
// messages. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Tells whether text is a DNS subdomain of RFC 1123, as names of Nodes are.
bool is_object_name(std::string_view text);

// Tells whether text is empty or has at most 63 letters, digits, '-', '_' and
// '.', with a letter or digit at each end.
bool is_label_value(std::string_view text);

// Tells whether text is the key of a label or an annotation: [PREFIX/]NAME.
bool is_qualified_name(std::string_view text);

// Returns text as valid UTF-8 of at most max bytes, cut between two characters,
// so that the API server returns the same text.
std::string clean_text(std::string_view text, std::size_t max);

// Returns a MicroTime. The API server requires exactly six digits after the
// seconds.
std::string micro_time(std::chrono::system_clock::time_point time);

// Returns a Time, in whole seconds.
std::string second_time(std::chrono::system_clock::time_point time);

// Parses a Time as the API server writes it: UTC, whole seconds. Nothing for
// any other text.
std::optional<std::chrono::sys_seconds> parse_time(const std::string &text);

} // namespace bridge
