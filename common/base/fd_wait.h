// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for a file descriptor with poll(). A thread that blocks in poll() does
// not notice a stop_token, so the wait looks at the token every half second.
#pragma once

#include <chrono>
#include <stop_token>

namespace bridge {

enum class FdWait {
    ready,   // poll() reports one of the events, or an error
    late,    // the deadline has passed
    stopped, // a stop was requested
    failed,  // poll() failed; see errno
};

FdWait wait_for_fd(int fd, short events,
                   std::chrono::steady_clock::time_point until,
                   const std::stop_token &stop);

} // namespace bridge
