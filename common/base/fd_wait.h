// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for a descriptor, and for no longer than half a second once it is to
// stop: who blocks in poll() hears of no stop_token.
#pragma once

#include <chrono>
#include <stop_token>

namespace bridge {

enum class FdWait {
    ready,   // poll() sees one of the events, or an error at the descriptor
    late,    // not by then
    stopped, // stop was requested
    failed,  // errno says why
};

FdWait wait_for_fd(int fd, short events,
                   std::chrono::steady_clock::time_point until,
                   const std::stop_token &stop);

} // namespace bridge
