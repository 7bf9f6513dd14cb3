// SPDX-License-Identifier: GPL-2.0-or-later
// Texts as the API server wants them: names, labels, times and messages. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// A DNS subdomain of RFC 1123, as node names are.
bool is_object_name(std::string_view text);

// At most 63 letters, digits, '-', '_' and '.', a letter or digit at each end;
// or nothing.
bool is_label_value(std::string_view text);

// The key of a label or an annotation: [PREFIX/]NAME.
bool is_qualified_name(std::string_view text);

// At most max bytes, cut between two characters, and UTF-8 throughout, so that
// the API server hands back the same text.
std::string clean_text(std::string_view text, std::size_t max);

// A MicroTime: exactly six digits of the second, else it is refused.
std::string micro_time(std::chrono::system_clock::time_point time);

// A Time, in whole seconds.
std::string second_time(std::chrono::system_clock::time_point time);

// A Time as the API server writes it: UTC, whole seconds. Else nothing.
std::optional<std::chrono::sys_seconds> parse_time(const std::string &text);

} // namespace bridge
