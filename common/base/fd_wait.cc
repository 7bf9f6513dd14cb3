// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/fd_wait.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

constexpr auto stop_look = 500ms; // how often the stop_token is looked at

} // namespace

FdWait wait_for_fd(int fd, short events,
                   std::chrono::steady_clock::time_point until,
                   const std::stop_token &stop)
{
    for (;;) {
        if (stop.stop_requested())
            return FdWait::stopped;
        auto left = std::chrono::ceil<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        if (left <= 0ms)
            return FdWait::late;
        pollfd one = {fd, events, 0};
        auto most = static_cast<int>(
            std::min<std::chrono::milliseconds>(left, stop_look).count());
        int count = poll(&one, 1, most);
        if (count > 0)
            return FdWait::ready;
        if (count < 0 && errno != EINTR)
            return FdWait::failed;
    }
}

} // namespace bridge
