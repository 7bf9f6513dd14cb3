// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/socket_probe.h"

#include "common/contract/hook_message.h"
#include "common/contract/packet_socket.h"

#include <algorithm>
#include <poll.h>

namespace bridge {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds pause{50}; // until it may have room for a caller

int left_until(Clock::time_point deadline)
{
    auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::max<long>(0, left.count()));
}

// Code::gone: the other side has closed, maybe because it ends; ask once more.
Result<> ping(PacketSocket &caller, Clock::time_point deadline)
{
    if (auto sent = caller.send(encode({.type = HookMessage::Type::ping}));
        !sent)
        return sent;
    pollfd fd{caller.fd(), POLLIN, 0};
    poll(&fd, 1, left_until(deadline));
    auto answer = caller.receive();
    if (!answer)
        return std::unexpected(answer.error());
    return {};
}

} // namespace

bool agent_answers(const std::string &path, milliseconds patience)
{
    const Clock::time_point deadline = Clock::now() + patience;
    do {
        auto caller = PacketSocket::connect(path);
        if (!caller && caller.error().code == Code::not_found)
            return false;
        if (caller && ping(*caller, deadline))
            return true;
        poll(nullptr, 0,
             std::min(left_until(deadline), static_cast<int>(pause.count())));
    } while (Clock::now() < deadline);
    return false;
}

} // namespace bridge
