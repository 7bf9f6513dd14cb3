// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/srun_peer.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <sys/socket.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

// For an srun that has received everything and does not close.
constexpr auto leave_time = 5s;

} // namespace

pollfd SrunPeer::poll_entry() const
{
    short events = static_cast<short>(POLLIN | (empty() ? 0 : POLLOUT));
    return {lost_ ? -1 : fd_.get(), events, 0};
}

std::optional<StepClock::time_point> SrunPeer::next_limit() const
{
    // The kernel does not report when sent data has arrived, or does not
    // arrive.
    if (lost_ || limit_ || unacknowledged(fd_.get()) == 0)
        return limit_;
    return StepClock::now() + (left_ ? 1s : 10s);
}

void SrunPeer::lose()
{
    lost_ = true;
    queue_ = ByteQueue();
}

void SrunPeer::send(StepFrameKind kind, std::string_view text)
{
    if (!lost_ && !deaf_)
        queue_.add(encode_step_frame(kind, text));
}

void SrunPeer::send_some()
{
    if (lost_)
        return;
    if (!deaf_ && !queue_.send_to(fd_.get())) {
        deaf_ = true;
        queue_ = ByteQueue();
    }
    if (answers_no_more(fd_.get()) || (limit_ && StepClock::now() >= *limit_))
        lose();
}

void SrunPeer::receive()
{
    std::string piece(max_step_data, '\0');
    ssize_t got = recv(fd_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        return lose();
    if (!left_) // otherwise nobody is there to take it
        reader_.feed(
            std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
}

std::optional<StepFrame> SrunPeer::next()
{
    if (lost_)
        return std::nullopt;
    auto frame = reader_.next();
    if (!frame) {
        lose();
        return std::nullopt;
    }
    return *frame;
}

// Closing with unread input would destroy the data that is on its way to srun.
// So srun closes first, once it has read everything.
void SrunPeer::start_close()
{
    if (lost_)
        return;
    if (!left_)
        shutdown(fd_.get(), SHUT_WR);
    left_ = true;
    if (!limit_ && unacknowledged(fd_.get()) == 0)
        limit_ = StepClock::now() + leave_time;
}

void SrunPeer::set_limit(StepClock::time_point limit)
{
    limit_ = limit_ ? std::min(*limit_, limit) : limit;
}

} // namespace bridge
