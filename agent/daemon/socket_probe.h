// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether an agent serves a socket, before that socket is taken.
#pragma once

#include <chrono>
#include <string>

namespace bridge {

// Returns whether somebody answers a ping within patience. An agent that is
// stopped or hangs does not, and neither does one that refuses us. Blocks until
// then, or until it is clear that nobody listens.
bool agent_answers(const std::string &path, std::chrono::milliseconds patience);

} // namespace bridge
