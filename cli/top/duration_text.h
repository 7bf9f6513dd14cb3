// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <string>

namespace bridge {

// Returns the time in its largest unit that has at least two, rounded down:
// "90 s", "5 min", "47 h", "3 d". Negative times are "0 s".
std::string duration_text(std::chrono::seconds time);

} // namespace bridge
