// SPDX-License-Identifier: GPL-2.0-or-later
// Is there an agent that serves this socket? Asked before it is taken.
#pragma once

#include <chrono>
#include <string>

namespace bridge {

// Whether somebody answers a ping there within patience. One that is stopped,
// or hangs, does not; nor does one that refuses us. Blocks until then, or until
// it is known that nobody listens at all.
bool agent_answers(const std::string &path, std::chrono::milliseconds patience);

} // namespace bridge
